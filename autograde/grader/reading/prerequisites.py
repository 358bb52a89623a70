"""Finds the cells of a notebook that have to run.

The release contains many cells with pictures, timings and worked examples. Such a cell, if unchanged, runs only if the
student's code, or another cell that runs, uses a name that it assigns. Of one that does not run, the imports that are
used do, such as `from collections import Counter`: in the notebook they have run, so `check` accepts them.
"""

import sys
from dataclasses import replace

from autograde.grader.reading.notebook import Cell
from autograde.grader.reading.source import significant
from autograde.grader.reading.template import Template

# Packages whose imports run; those of the library and of the course are not for answers.
_FOR_ANSWERS = sys.stdlib_module_names | {"keras", "numpy", "tensorflow"}


def cells_to_run(program: list[Cell], template: Template) -> list[Cell]:
    """The cells of a program that have to run, in their order."""
    shown = {significant(cell.cell.source) for cell in template.cells if cell.role == "other"}
    optional = {index for index, cell in enumerate(program) if significant(cell.source) in shown}
    new = set(range(len(program))) - optional
    wanted: set[str] = set()
    while new:
        wanted |= set().union(*(program[index].parsed.reads for index in new))
        new = {index for index in optional if program[index].parsed.declares & wanted}
        optional -= new
    chosen = (_imports_of(cell, wanted) if index in optional else cell for index, cell in enumerate(program))
    return [cell for cell in chosen if cell is not None]


def _imports_of(cell: Cell, wanted: set[str]) -> Cell | None:
    """The cell with nothing but its imports of wanted names; None without any."""
    imports = cell.parsed.core.imports
    lines = [line for name, line in imports.items() if name in wanted and line.split()[1].split(".")[0] in _FOR_ANSWERS]
    return replace(cell, source="\n".join(lines)) if lines else None
