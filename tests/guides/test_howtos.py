"""The how-tos in docs/ name commands, options and Python names that exist; README's commands are run elsewhere."""

import importlib.util
import re
import shlex
from pathlib import Path

import click
import pytest

from autograde.cli import cli as autograde
from bertlab.cli import cli as bertlab

DOCS = Path(__file__).parents[2] / "docs"
TEXTS = [
    (DOCS / name).read_text(encoding="utf-8")
    for name in (
        "vectors.md",
        "minimal_pairs.md",
        "inside.md",
        "pretraining.md",
        "finetuning.md",
        "distillation.md",
        "generation.md",
        "translation.md",
        "instructor/before_the_term.md",
        "instructor/each_week.md",
        "instructor/lms.md",
        "instructor/afterwards.md",
    )
]
PROGRAMS = {"bertlab": bertlab, "autograde": autograde}
COMMANDS = [line.partition("  #")[0].strip() for text in TEXTS for line in text.splitlines()
            if line.startswith(tuple(f"    {name} " for name in PROGRAMS))]  # fmt: skip
IMPORTS = [found for text in TEXTS for found in re.findall(r"^from (\S+) import (.+)$", text, re.MULTILINE)]


def command_of(words: list[str]) -> click.Command:
    command = PROGRAMS[words[0]]
    context = click.Context(command)
    for word in words[1:]:
        if not isinstance(command, click.Group):
            return command
        command = command.get_command(context, word)
        assert command is not None, f"no command {word}"
    return command


@pytest.mark.parametrize("line", COMMANDS)
def test_every_option_of_a_how_to_exists(line):
    words = shlex.split(line)
    command = command_of(words)
    known = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    assert {word for word in words if word.startswith("--")} <= known


@pytest.mark.parametrize("module, names", IMPORTS)
def test_everything_a_how_to_imports_exists(module, names):
    place = importlib.import_module(module)
    for name in names.split(", "):
        assert hasattr(place, name) or importlib.util.find_spec(f"{module}.{name}")


def test_the_how_tos_name_something():
    assert len(COMMANDS) >= 25 and len(IMPORTS) >= 5
