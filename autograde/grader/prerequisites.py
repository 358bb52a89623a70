"""Finds the cells of a notebook that have to run.

The release contains many cells with pictures, timings and worked examples. Such a cell, if unchanged, runs only if the
student's code, or another cell that runs, uses a name that it assigns.
"""

from autograde.dependencies import names_of
from autograde.grader.notebook import Cell
from autograde.grader.source import defined_names, significant
from autograde.grader.template import Template


def cells_to_run(program: list[Cell], template: Template) -> list[Cell]:
    """The cells of a program that have to run, in their order."""
    shown = {significant(cell.cell.source) for cell in template.cells if cell.role == "other"}
    optional = {place for place, cell in enumerate(program) if significant(cell.source) in shown}
    new = set(range(len(program))) - optional
    wanted: set[str] = set()
    while new:
        wanted |= set().union(*(names_of(program[place].source)[1] for place in new))
        new = {place for place in optional if defined_names(program[place].source) & wanted}
        optional -= new
    return [cell for place, cell in enumerate(program) if place not in optional]
