"""Each benchmark names the sentence or table that it supports, which is there; each command in the texts is there."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "benchmarks"
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__main__"): path
    for path in sorted(FOLDER.glob("*/*.py"))
    if path.name != "__init__.py"
}
DOCSTRINGS = {
    name: " ".join(ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))).split())
    for name, path in MODULES.items()
}
SUPPORTED = {name: re.findall(r'([\w/.]+\.(?:md|py)), "([^"]+)"', text) for name, text in DOCSTRINGS.items()}
COMMANDS = {name for name in MODULES if SUPPORTED[name]}  # the others are parts of one
TEXTS = [ROOT / "README.md", ROOT / "Makefile", *FOLDER.rglob("*.md"), *(ROOT / "docs").rglob("*.md")]


@pytest.mark.parametrize("name", MODULES)
def test_a_benchmark_supports_a_sentence_or_is_a_part_of_one_that_does(name):
    for file, words in SUPPORTED[name]:
        assert words in " ".join((ROOT / file).read_text(encoding="utf-8").split()), f"{file}: no {words!r}"
    named = set(re.findall(r"`(benchmarks[.\w]+)`", DOCSTRINGS[name])) - {name}
    assert name in COMMANDS or named & COMMANDS


def test_the_table_has_each_command_once():
    table = re.findall(r"^\|[^|]+\| `([\w.]+)` \|", (FOLDER / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(table) == len(set(table))
    assert {f"benchmarks.{name}" for name in table} == COMMANDS


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_commands_in_the_texts_are_there(path):
    named = re.findall(r"python -m (benchmarks\.[\w.]*\w)", path.read_text(encoding="utf-8"))
    assert set(named) <= set(MODULES)
