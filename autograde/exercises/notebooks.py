"""The solution notebooks as text: their cells, and the facts about each exercise that only they state.

A notebook is a py:percent file, `solutions/NN_topic.py`. An exercise in it is a heading, an answer and a check:

    # ## 3.4 Scores · 3 points · ~8 minutes · Attention, line 5        number, title, points, minutes, lines
    # %% nbgrader={"solution": true, "grade_id": "scores", …}          id
    def attention_scores(q, k): …                                      arguments
    # %% nbgrader={"grade": true, "grade_id": "check-scores", "points": 3, …}
    check(attention_scores)                                            name

Nothing is run. The instructor's side only.
"""

import ast
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from autograde.common import syntax
from autograde.common.caches import cached
from autograde.common.errors import AutogradeError
from autograde.exercises import folders, variants

SOLUTIONS = folders.COURSE / "solutions"
_MARKER = re.compile(r"^# %%(?P<markdown> \[markdown\])?(?P<metadata>.*)$")
_NUMBERED = re.compile(r"^# ## (?P<number>(\d+|P)\.\d+) (?P<rest>.*)$")
_HEADING = re.compile(r"(?P<title>.+?) · (?P<points>[\d.]+) points? · ~(?P<minutes>\d+) minutes?(?: · (?P<lines>.+))?")
_EXPECTED = "## 3.4 Title · 3 points · ~8 minutes · lines of the algorithm (may be left out)"


class SolutionError(AutogradeError, ValueError):
    """A solution notebook without a required fact, or a misconception whose patch does not fit its cell."""


@dataclass(frozen=True)
class Cell:
    """One cell. line: where its marker is in the file; source: a code cell's program, a text cell's commented lines."""

    line: int
    is_code: bool
    metadata: dict
    source: str

    @property
    def graded(self) -> dict:
        """nbgrader's metadata: grade_id, points, solution …"""
        return self.metadata.get("nbgrader", {})


@dataclass(frozen=True)
class Facts:
    """The notebook's facts about one exercise. signatures: the parameters of each function and class it defines."""

    id: str
    notebook: str
    number: str
    title: str
    minutes: int
    lines: str
    points: float
    name: str
    signatures: dict[str, tuple[str, ...]]
    where: str  # "solutions/03_attention.py line 169", for errors


def path_of(notebook: str) -> Path:
    """The file of a notebook. Raises SolutionError if there is none."""
    path = path_beside("solutions", notebook)
    if not path.exists():
        raise SolutionError(f"{path}: no such file; expected one solution notebook in solutions/ for each notebook")
    return path


def path_beside(kind: str, notebook: str) -> Path:
    """The file of a notebook, which may not exist. kind: "solutions", "answers" or "requirements"."""
    name = f"{notebook}.toml" if kind == "requirements" else f"{notebook}.py"
    if folders.is_own(notebook):
        return folders.own() / kind / name
    return SOLUTIONS / name if kind == "solutions" else SOLUTIONS / kind / name


def cells_of(notebook: str, variant: variants.Values = ()) -> tuple[Cell, ...]:
    """All cells of a notebook, in order, with these values of its variants. Raises SolutionError, VariantError.

    variant: by default the values that are written in the notebook.
    """
    path = path_of(notebook)
    return _cells(path, path.stat().st_mtime_ns, variant)


def variant_of(notebook: str) -> variants.Values:
    """The values of variants that are written in a notebook; none if it has no variants. Raises VariantError."""
    return _written_variant(cells_of(notebook))


def _written_variant(cells: Iterable[Cell]) -> variants.Values:
    return next((variants.values_in(cell.source) for cell in cells if cell.graded.get("grade_id") == variants.CELL), ())


def facts_of(notebook: str) -> dict[str, Facts]:
    """The exercises of a notebook by id, in order. Raises SolutionError that names file and line."""
    return facts_in(path_of(notebook))


def facts_in(path: Path) -> dict[str, Facts]:
    """The exercises in one file by id, in order. Raises SolutionError that names file and line."""
    return _facts(path, path.stat().st_mtime_ns)


@cached
def _cells(path: Path, changed: int, variant: variants.Values = ()) -> tuple[Cell, ...]:
    lines = path.read_text(encoding="utf-8").split("\n")
    starts = [number for number, line in enumerate(lines) if _MARKER.match(line)]
    cells = []
    for start, end in zip(starts, [*starts[1:], len(lines)]):
        marker = _MARKER.match(lines[start])
        source = "\n".join(lines[start + 1 : end]).strip("\n")
        cells.append(Cell(start + 1, not marker["markdown"], _metadata(marker["metadata"], path, start + 1), source))
    values = variant or _written_variant(cells)
    for place, cell in enumerate(cells):
        if cell.graded.get("grade_id") != variants.CELL:
            cells[place] = replace(cell, source=variants.filled(cell.source, values))
        elif variant:
            cells[place] = replace(cell, source=variants.cell_of(values, 0))
    return tuple(cells)


def _metadata(text: str, path: Path, line: int) -> dict:
    """`tags=["setup"] nbgrader={…}` as a dict: keys with JSON values, as jupytext writes them."""
    decoder, metadata, rest = json.JSONDecoder(), {}, text.strip()
    while rest:
        key, _, value = rest.partition("=")
        try:
            metadata[key], end = decoder.raw_decode(value)
        except ValueError as error:
            raise SolutionError(
                f'{_where(path, line)}: expected key=JSON, like tags=["setup"], got {rest[:60]!r} ({error})'
            ) from None
        rest = value[end:].strip()
    return metadata


@cached
def _facts(path: Path, changed: int) -> dict[str, Facts]:
    cells = _cells(path, changed)
    checks = {cell.graded["grade_id"]: cell for cell in cells if cell.graded.get("grade")}
    heading, found = None, {}
    for cell in cells:
        for number, line in enumerate(() if cell.is_code else cell.source.split("\n"), start=cell.line + 1):
            if numbered := _NUMBERED.match(line):
                heading = number, numbered
        if cell.graded.get("solution"):
            if heading is None:
                raise SolutionError(f"{_where(path, cell.line)}: an answer without a heading; expected {_EXPECTED}")
            identity = cell.graded["grade_id"]
            found[identity] = _facts_of_one(path, cell, heading, checks.get(f"check-{identity}"))
            heading = None  # the next answer needs one of its own
    return found


def _facts_of_one(path: Path, answer: Cell, heading: tuple[int, re.Match], check: Cell | None) -> Facts:
    identity, (line, numbered) = answer.graded["grade_id"], heading
    stated = _HEADING.fullmatch(numbered["rest"])
    if not stated:
        raise SolutionError(f"{_where(path, line)}: expected {_EXPECTED}, got ## {numbered[0].removeprefix('# ## ')}")
    if check is None:
        raise SolutionError(
            f'{_where(path, answer.line)}: expected a cell with "grade_id": "check-{identity}" below it'
        )
    points = float(stated["points"])
    if check.graded.get("points") != points:
        raise SolutionError(
            f"{_where(path, check.line)}: expected {points:g} points, as its heading in line {line} has, "
            f"got {check.graded.get('points')}"
        )
    signatures = _signatures(path, answer)
    called = re.search(r"^check\((\w+)", check.source, re.MULTILINE)
    if not called or called[1] not in signatures:
        raise SolutionError(
            f"{_where(path, check.line)}: expected check(NAME) with a function or class that the answer in line "
            f"{answer.line} defines ({', '.join(signatures)}), got {check.source[:60]!r}"
        )
    return Facts(
        identity, path.stem, numbered["number"], stated["title"], int(stated["minutes"]), stated["lines"] or "", points,
        called[1], signatures, _where(path, line),
    )  # fmt: skip


def _signatures(path: Path, answer: Cell) -> dict[str, tuple[str, ...]]:
    """The parameters of each function, and of each class's `call` without self, that the answer defines."""
    try:
        tree = syntax.parse(answer.source)
    except SyntaxError as error:
        raise SolutionError(f"{_where(path, answer.line + (error.lineno or 0))}: {error.msg}") from None
    signatures = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            signatures[node.name] = _parameters(node)
        elif isinstance(node, ast.ClassDef):
            methods = {method.name: method for method in node.body if isinstance(method, ast.FunctionDef)}
            signatures[node.name] = _parameters(methods["call"])[1:] if "call" in methods else []
    return signatures


def _parameters(function: ast.FunctionDef) -> tuple[str, ...]:
    return tuple(argument.arg for argument in (*function.args.posonlyargs, *function.args.args))


def _where(path: Path, line: int) -> str:
    return f"solutions/{path.name} line {line}"


def title_of(notebook: str) -> str:
    """The title of a notebook: its first heading, such as "03 · Attention". Raises SolutionError."""
    for cell in cells_of(notebook):
        heading = re.search(r"^# # (.+)$", cell.source, re.MULTILINE) if not cell.is_code else None
        if heading:
            return heading[1].strip()
    raise SolutionError(f"solutions/{notebook}.py: expected a title such as `# 03 · Attention` in a text cell")
