"""Kept answers, and the texts of the student's own package that are made from them.

A kept answer is the whole cells of a notebook that one passed exercise depends on, as text that runs by itself. The
cells are those that IPython remembers (`In`), in the order in which they ran: the last one that defines a name counts.
Bare expressions of a cell are left out (prints, checks, calls to try something out), and imports that nothing needs.
"""

import ast
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from autograde.boundary.mybert_importer import PACKAGE
from autograde.common import syntax
from autograde.common.dependencies import ParsedCell, Program, cells_for

_COMMAND_FOR_A_CELL = re.compile(r"get_ipython\(\)\.run_cell_magic\('(?:time|timeit|capture|prun)', ")
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,60}")
_DISTRIBUTIONS = {"tensorflow_text": "tensorflow-text", "sklearn": "scikit-learn", "PIL": "pillow"}

_TEST = '''"""The checks that these answers passed. They need the course's package: run `pytest mybert/tests`."""

from pathlib import Path

import pytest

from autograde.student.store import passes

HOME = Path(__file__).resolve().parents[2]
EXERCISES = """
{exercises}
""".split()


@pytest.mark.parametrize("exercise", EXERCISES)
def test_{module}_passes_the_check_of(exercise):
    assert passes(exercise, HOME).passed
'''

_PROJECT = """[build-system]
requires = ["setuptools>=64"]
build-backend = "setuptools.build_meta"

[project]
name = "mybert"
version = "0.{answers}"
description = "My own BERT, built step by step"
requires-python = ">=3.11"
dependencies = [{dependencies}]

[tool.setuptools]
packages = ["mybert"]
package-dir = {{ mybert = "." }}
"""

_README = """# My own BERT

Built in the course, step by step: each function and layer here passed its check. `pip install ./mybert` installs it
anywhere; `from mybert.attention import …` then works without the course. The checks in `tests/` need the course's
package.

A passed check writes the files again. You may edit them: an edited file is copied before it is replaced.

| answer | module | exercise |
|---|---|---|
{rows}
"""


class NotKept(Exception):
    """Why an answer cannot run by itself: one clause, "it uses `x`, which …"."""


@dataclass(frozen=True)
class KeptAnswer:
    """The kept answer to one exercise. cells: import statements first, one each; order: later ones were kept later."""

    exercise: str
    number: str
    title: str
    module: str
    names: tuple[str, ...]
    cells: tuple[str, ...]
    order: int = 0

    @classmethod
    def from_dict(cls, values) -> "KeptAnswer":
        """The inverse of `asdict`; also reads version 0.1, in which each statement is a cell. Raises ValueError."""
        try:
            values = dict(values)
            values["cells"] = tuple(values.pop("statements") if "statements" in values else values["cells"])
            answer = cls(**values | {"names": tuple(values["names"])})
        except (TypeError, KeyError, ValueError) as error:
            raise ValueError(f"expected a kept answer: {error}") from None
        texts = (answer.exercise, answer.number, answer.title, answer.module, *answer.names, *answer.cells)
        if not all(type(text) is str for text in texts) or type(answer.order) is not int:
            raise ValueError("expected a kept answer: a value is of another type")
        if not (_NAME.fullmatch(answer.exercise) and _NAME.fullmatch(answer.module) and answer.module.isidentifier()):
            raise ValueError("expected a kept answer: its exercise or module has a name that the course never uses")
        return answer


def gather(facts: dict, space: dict, tried_with: Iterable[str] = ()) -> KeptAnswer:
    """The kept answer to an exercise, from a notebook's names and cells. tried_with: further names that its check
    needs. Raises NotKept."""
    module, names = facts["kept_in"], tuple(facts["names"])
    program = Program(ParsedCell(_as_written(cell)).core for cell in space.get("In", ()) if isinstance(cell, str))
    chosen = cells_for({name for name in (*names, *tried_with) if name in space}, program)
    for name in sorted(chosen.missing):
        raise NotKept(f"it uses `{name}`, and no cell that was run in this notebook defines that")
    for name, line in chosen.imports.items():
        if f"{PACKAGE}.{module}" in line.split():
            raise NotKept(f"it uses `{name}` from {PACKAGE}.{module} itself; define `{name}` in this notebook, too")
    cells = (*sorted(set(chosen.imports.values())), *(cell.source for cell in chosen.cells))
    return KeptAnswer(facts["id"], facts["number"], facts["title"], module, names, cells)


def _as_written(cell: str) -> str:
    """A cell of IPython's `In`, where `%%time` over a cell has become a call that contains the cell."""
    if _COMMAND_FOR_A_CELL.match(cell) is None:
        return cell
    call = syntax.parse(cell).body[0].value
    return ast.literal_eval(call.args[2])


# --- the files of the package ---


def module_text(module: str, answers: list[KeptAnswer]) -> str:
    """A module: imports on top, then the answers in order, each after what it needs."""
    notebook = answers[0].number.partition(".")[0]
    imports, blocks = _in_order(answers)
    head = [f'"""What I built in notebook {notebook:0>2}: {module}."""', *_import_groups(imports)]
    return "\n\n".join(head) + "\n" + _spaced(blocks)


def _in_order(answers: list[KeptAnswer]) -> tuple[set[str], list[str]]:
    """(import statements, blocks of text): each cell once, after the cells that it needs or replaces a name of."""
    known = [(answer, cell) for answer in answers for cell in map(_read, answer.cells)]
    owners = _owners(known)
    chosen = [
        (answer, cell) for answer, cell in known
        if cell.source and (not cell.defines or any(owners[name] is answer for name in cell.defines))
    ]  # fmt: skip
    blocks, used, done = [], set(), set()

    def emit(answer, cell):
        if cell.source in done:
            return
        done.add(cell.source)
        used.update(cell.reads)
        replaced = {name for name in cell.defines if owners[name] is answer}
        for other_answer, other in chosen:
            if other.defines & (cell.reads - cell.defines) or other_answer is not answer and other.defines & replaced:
                emit(other_answer, other)
        titles = [owner for owner in answers if cell.defines & set(owner.names)]
        blocks.append((f"# {titles[0].number} {titles[0].title}\n" if titles else "") + cell.source)

    for answer, cell in chosen:
        emit(answer, cell)
    imports = {}
    for _, cell in sorted(known, key=lambda pair: pair[0].order):  # if two import the same name, the newer counts
        imports |= cell.imports
    return {statement for name, statement in imports.items() if name in used}, blocks


def _read(cell: str) -> ParsedCell:
    return ParsedCell(cell).without_imports


def _owners(known: list[tuple[KeptAnswer, ParsedCell]]) -> dict[str, KeptAnswer]:
    """The answer whose version counts for each name: the exercise's own, else the one that was kept last."""
    owners: dict[str, KeptAnswer] = {}
    for answer, cell in known:
        for name in cell.defines:
            best = owners.get(name)
            if best is None or (name in answer.names, answer.order) > (name in best.names, best.order):
                owners[name] = answer
    return owners


def _spaced(blocks: list[str]) -> str:
    """Two empty lines around functions and classes, none between assignments of one line each."""
    text, short_before = "", False
    for block in blocks:
        short = "\n" not in block
        text += ("" if short and short_before else "\n" if short else "\n\n") + f"{block}\n"
        short_before = short
    return text


def _import_groups(statements: set[str]) -> list[str]:
    """Import statements in three groups, as in PEP 8; all names from one module in one line."""

    def place(line: str) -> tuple:
        root = _package_of(line)
        group = 0 if root in sys.stdlib_module_names else 2 if root in (PACKAGE, "autograde") else 1
        return group, line.startswith("from"), line.split()[1], line

    groups: dict[int, list[str]] = {}
    for head, lines in groupby(sorted(statements, key=place), key=lambda line: line.partition(" import ")[0]):
        names = ", ".join(line.partition(" import ")[2] for line in lines)
        groups.setdefault(place(head)[0], []).append(f"{head} import {names}" if names else head)
    return ["\n".join(group) for group in groups.values()]


def _package_of(statement: str) -> str:
    return statement.split()[1].partition(".")[0]


def test_text(module: str, answers: list[KeptAnswer]) -> str:
    """The tests of a module: the checks that its answers passed."""
    return _TEST.format(module=module, exercises="\n".join(answer.exercise for answer in answers))


def project_text(answers: list[KeptAnswer]) -> str:
    """The project file, which `pip install ./mybert` reads."""
    cells = [_read(cell) for answer in answers for cell in answer.cells]
    packages = {_package_of(statement) for cell in cells for statement in cell.imports.values()}
    foreign = sorted(packages - set(sys.stdlib_module_names) - {PACKAGE, "autograde", ""})
    names = ", ".join(f'"{_DISTRIBUTIONS.get(package, package)}"' for package in foreign)
    return _PROJECT.format(answers=len(answers), dependencies=names)


def readme_text(answers: list[KeptAnswer], index: list[dict]) -> str:
    """The README: the modules in the package, and the missing ones."""
    there = {answer.exercise for answer in answers}
    rows = [
        f"| {', '.join(f'`{name}`' for name in facts['names'])} | "
        f"{'`' + facts['kept_in'] + '`' if facts['id'] in there else 'to come'} | {facts['number']} {facts['title']} |"
        for facts in index
        if facts.get("kept_in")
    ]
    return _README.format(rows="\n".join(rows))
