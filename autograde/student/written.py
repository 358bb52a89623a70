"""The texts of the student's own package, from its pieces: modules, tests, project file, README."""

import sys
from itertools import groupby

from autograde.statements import Statement, statements
from autograde.student.pieces import Piece

_DISTRIBUTIONS = {"tensorflow_text": "tensorflow-text", "sklearn": "scikit-learn", "PIL": "pillow"}

_TEST = '''"""The checks that these pieces passed. They need the course's package: run `pytest mybert/tests`."""

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
version = "0.{pieces}"
description = "My own BERT, built piece by piece"
requires-python = ">=3.11"
dependencies = [{dependencies}]

[tool.setuptools]
packages = ["mybert"]
package-dir = {{ mybert = "." }}
"""

_README = """# My own BERT

Built in the course, piece by piece: each function and layer here passed its check. `pip install ./mybert` installs it
anywhere; `from mybert.attention import …` then works without the course. The checks in `tests/` need the course's
package.

The files are written anew when a check passes. Edit them as you like: an edited file is kept beside the new one.

| piece | module | exercise |
|---|---|---|
{rows}
"""


def module_text(module: str, pieces: list[Piece]) -> str:
    """A module: imports on top, then the pieces in order, each after what it needs."""
    notebook = pieces[0].number.partition(".")[0]
    imports, blocks = _emitted(pieces)
    head = [f'"""What I built in notebook {notebook:0>2}: {module}."""', *_imports(imports)]
    return "\n\n".join(head) + "\n" + _spaced(blocks)


def _emitted(pieces: list[Piece]) -> tuple[list[Statement], list[str]]:
    """(import statements, blocks of text)."""
    known = [(piece, statement) for piece in pieces for text in piece.statements for statement in statements(text)]
    winners = _winners(known)
    chosen = [(piece, statement) for piece, statement in known if _counts(piece, statement, winners)]
    imports, blocks, done = [], [], set()

    def emit(piece, statement):
        if statement.source in done:
            return
        done.add(statement.source)
        if statement.kind == "import":
            imports.append(statement)
            return
        for other_piece, other in chosen:
            if other.binds & (statement.reads - statement.binds):
                emit(other_piece, other)
        titles = [owner for owner in pieces if statement.binds & set(owner.names)]
        blocks.append((f"# {titles[0].number} {titles[0].title}\n" if titles else "") + statement.source)

    for piece, statement in chosen:
        emit(piece, statement)
    return imports, blocks


def _winners(known: list[tuple[Piece, Statement]]) -> dict[str, Piece]:
    """For each name the piece whose version counts: the exercise's own, else the one that was kept last."""
    winners: dict[str, Piece] = {}
    for piece, statement in known:
        for name in statement.binds:
            best = winners.get(name)
            if best is None or (name in piece.names, piece.order) > (name in best.names, best.order):
                winners[name] = piece
    return winners


def _counts(piece: Piece, statement: Statement, winners: dict[str, Piece]) -> bool:
    concerned = statement.binds or statement.changes
    return any(winners.get(name, piece) is piece for name in concerned)


def _spaced(blocks: list[str]) -> str:
    """Two empty lines around functions and classes, none between assignments of one line each."""
    text, short_before = "", False
    for block in blocks:
        short = "\n" not in block
        text += ("" if short and short_before else "\n" if short else "\n\n") + f"{block}\n"
        short_before = short
    return text


def _imports(lines: list[Statement]) -> list[str]:
    """Import statements in three groups, as PEP 8 has them."""
    keys = sorted({_sort_key(line.source) for line in lines})
    groups = []
    for _, group in groupby(keys, key=lambda key: key[0]):
        groups.append("\n".join(_joined([line for *_, line in group])))
    return groups


def _sort_key(line: str) -> tuple:
    root = line.split()[1].partition(".")[0]
    group = 0 if root in sys.stdlib_module_names else 2 if root in ("mybert", "autograde") else 1
    return group, line.startswith("from"), line.split()[1], line


def _joined(lines: list[str]) -> list[str]:
    """`from a import b` and `from a import c` as one."""
    whole = []
    for head, group in groupby(lines, key=lambda line: line.partition(" import ")[0] if "from" in line[:4] else line):
        names = [line.partition(" import ")[2] for line in group]
        whole.append(f"{head} import {', '.join(names)}" if head.startswith("from ") else head)
    return whole


def test_text(module: str, pieces: list[Piece]) -> str:
    """The tests of a module: the checks that its pieces passed."""
    return _TEST.format(module=module, exercises="\n".join(piece.exercise for piece in pieces))


def project_text(pieces: list[Piece]) -> str:
    """What `pip install ./mybert` reads."""
    roots = {
        statement.source.split()[1].partition(".")[0]
        for piece in pieces
        for text in piece.statements
        for statement in statements(text)
        if statement.kind == "import"
    }
    foreign = sorted(roots - set(sys.stdlib_module_names) - {"mybert", "autograde", ""})
    names = ", ".join(f'"{_DISTRIBUTIONS.get(root, root)}"' for root in foreign)
    return _PROJECT.format(pieces=len(pieces), dependencies=names)


def readme_text(pieces: list[Piece], index: list[dict]) -> str:
    """What is in the package, and what is still to come."""
    there = {piece.exercise for piece in pieces}
    rows = [
        f"| {', '.join(f'`{name}`' for name in facts['names'])} | "
        f"{'`' + facts['kept_in'] + '`' if facts['id'] in there else 'to come'} | {facts['number']} {facts['title']} |"
        for facts in index
        if facts.get("kept_in")
    ]
    return _README.format(rows="\n".join(rows))
