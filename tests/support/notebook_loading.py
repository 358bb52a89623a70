"""A notebook's text, cells and names; and notebook 05's own way of loading a checkpoint, run on a folder."""

from pathlib import Path

import jupytext
import pytest

from autograde.exercises import catalogue, cells, notebooks
from bertlab.training.runs.recorded import recorded_runs

SWITCH = 'CHECKPOINT = "bertlab-mini"'


@pytest.fixture(name="names", scope="module")
def names_of_notebook(request) -> dict:
    """The names that a student has after the last answer of the test module's NOTEBOOK."""
    return cells.namespace(catalogue.of_notebook(request.module.NOTEBOOK)[-1])


def text_of(notebook: str) -> str:
    return (notebooks.SOLUTIONS / f"{notebook}.py").read_text(encoding="utf-8")


def code_with(notebook: str, part: str) -> str:
    """The first code cell that contains this text."""
    return next(cell.source for cell in _cells(notebook) if cell.cell_type == "code" and part in cell.source)


def loaded(folder: Path) -> dict:
    """Notebook 05's names after its cells tagged "loading" have loaded this folder into the solution's layers."""
    names = cells.namespace(catalogue.find("fill-in"))
    sources = [cell.source for cell in _cells("05_bert") if "loading" in cell.metadata.get("tags", ())]
    assert sum(SWITCH in source for source in sources) == 1
    for source in sources:
        exec(source.replace(SWITCH, f"CHECKPOINT = {str(folder)!r}"), names)
    return names


def run_cells(names: dict, *beginnings: str) -> None:
    """Runs the unchanged cells that begin like this, after those of `loaded`; pictures are shown as text."""
    from autograde import student

    names |= {name: getattr(student, name) for name in ("guess_bars", "heat_maps")}
    for beginning in beginnings:
        exec(next(cell.source for cell in _cells("05_bert") if cell.source.startswith(beginning)), names)


def recorded_values(name: str, /, *columns: str, value: str, **wanted) -> dict[tuple, list]:
    """What these columns of recorded runs hold → the values; only of rows that have one and hold what is `wanted`."""
    found = {}
    for row in recorded_runs(name):
        if value in row and all(row.get(column) == content for column, content in wanted.items()):
            found.setdefault(tuple(row.get(column) for column in columns), []).append(row[value])
    return found


def _cells(notebook: str) -> list:
    return jupytext.read(notebooks.SOLUTIONS / f"{notebook}.py").cells
