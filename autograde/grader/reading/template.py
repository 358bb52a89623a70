"""The released notebook as the grader sees it: answer cells, test cells, and the names each answer defines."""

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from autograde.common.errors import AutogradeError
from autograde.exercises import variants
from autograde.exercises.variants import Values
from autograde.grader.reading.notebook import Cell, read_notebook
from autograde.grader.reading.source import significant

CHECK = "check"  # the function whose call is the locked cell of an exercise
SETUP = "setup"  # the tag of cells with imports that every answer needs
# Packages whose imports run; those of the library and of the course are not for answers.
_FOR_ANSWERS = sys.stdlib_module_names | {"keras", "numpy", "tensorflow"}


class TemplateError(AutogradeError, ValueError):
    """A released notebook that cannot be graded against."""


@dataclass(frozen=True)
class TemplateCell:
    """One cell of the release.

    role: "answer" (the student writes here), "test" (locked, graded, never run with the student's code), "given"
    (code that the rest needs: locked, or tagged "setup") or "other". names: what an answer defines, or a test asks for.
    """

    cell: Cell
    role: str
    names: frozenset[str] = frozenset()

    @property
    def grade_id(self) -> str | None:
        return self.cell.grade_id


@dataclass(frozen=True)
class Template:
    """A released notebook. cells: all of them, in order; editions: the variants of its questions, by number."""

    name: str
    cells: tuple[TemplateCell, ...]
    editions: Mapping[int, "Template"] = field(default_factory=dict)

    @classmethod
    def read(cls, source, name: str) -> "Template":
        """From the released notebook's bytes or path. Raises TemplateError where it cannot be used."""
        reading = read_notebook(source)
        if reading.problem:
            raise TemplateError(f"{name}: the released notebook cannot be read ({reading.problem.kind})")
        cells = tuple(_template_cell(cell) for cell in reading.cells)
        ids = [cell.grade_id for cell in cells if cell.grade_id and cell.role != "other"]
        double = sorted({name for name in ids if ids.count(name) > 1})
        if double:
            raise TemplateError(f"{name}: the released notebook has the grade_id {double[0]!r} twice; release it again")
        if not any(cell.role == "answer" for cell in cells):
            raise TemplateError(
                f"{name}: expected an answer cell (nbgrader: solution) in the released notebook, found none"
            )
        return cls(name, cells)

    def edition(self, number: int) -> "Template":
        """The variant with this number; 0: the notebook itself. Raises TemplateError."""
        if number and number not in self.editions:
            raise TemplateError(
                f"{self.name}: variant {number} is not released; expected one of {sorted(self.editions)}"
            )
        return self.editions[number] if number else self

    @property
    def values(self) -> Values:
        """The values of its variant; none if its questions have no variants. Raises VariantError."""
        cell = next((cell for cell in self.cells if cell.grade_id == variants.CELL), None)
        return variants.values_in(cell.cell.source) if cell else ()

    @property
    def title(self) -> str:
        """Its first heading, such as "03 · Attention"; its file's name if it has none."""
        texts = (cell.cell.source for cell in self.cells if cell.cell.kind == "markdown")
        headings = (re.search(r"^# +(\S.*)$", text, re.MULTILINE) for text in texts)
        heading = next(filter(None, headings), None)
        return heading[1].strip() if heading else self.name

    @property
    def answers(self) -> list[TemplateCell]:
        return [cell for cell in self.cells if cell.role == "answer"]

    @property
    def tests(self) -> list[TemplateCell]:
        return [cell for cell in self.cells if cell.role == "test"]

    def graded_cell(self, exercise: str) -> TemplateCell | None:
        """The cell with the points of an answer: the test that checks its names, otherwise the next test after it, or
        the answer itself if it is graded by hand."""
        index = next((index for index, cell in enumerate(self.cells) if cell.grade_id == exercise), None)
        if index is None:
            return None
        answer = self.cells[index]
        if answer.cell.graded:
            return answer
        asked = [test for test in self.tests if test.names & answer.names]
        return asked[0] if asked else next((cell for cell in self.cells[index:] if cell.role == "test"), None)


def _template_cell(cell: Cell) -> TemplateCell:
    if cell.kind == "code" and (SETUP in cell.tags or (cell.grade_id and cell.locked and not cell.graded)):
        return TemplateCell(cell, "given")
    if cell.grade_id is None:
        return TemplateCell(cell, "other")
    if cell.solution:
        names = cell.parsed.declares if cell.kind == "code" else frozenset()
        return TemplateCell(cell, "answer", names)
    if cell.graded and cell.kind == "code":
        return TemplateCell(cell, "test", frozenset(cell.parsed.called_with(CHECK)))
    return TemplateCell(cell, "other")


def cells_to_run(program: list[Cell], template: Template) -> list[Cell]:
    """The cells of a program that have to run, in their order.

    The release contains many cells with pictures, timings and worked examples. Such a cell, if unchanged, runs only if
    the student's code, or another cell that runs, uses a name that it assigns. Of one that does not run, the imports
    that are used do, such as `from collections import Counter`: in the notebook they have run, so `check` accepts them.
    """
    shown = {significant(cell.cell.source) for cell in template.cells if cell.role == "other"}
    optional = {index for index, cell in enumerate(program) if significant(cell.source) in shown}
    new = set(range(len(program))) - optional
    wanted: set[str] = set()
    while new:
        wanted |= set().union(*(program[index].parsed.reads for index in new))
        new = {index for index in optional if program[index].parsed.declares & wanted}
        optional -= new
    chosen = []
    for index, cell in enumerate(program):
        if index in optional:
            imports = [line for name, line in cell.parsed.core.imports.items() if name in wanted]
            lines = [line for line in imports if line.split()[1].split(".")[0] in _FOR_ANSWERS]
            chosen += [replace(cell, source="\n".join(lines))] if lines else []
        else:
            chosen.append(cell)
    return chosen
