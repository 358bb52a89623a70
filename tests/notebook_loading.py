"""Notebook 05's own way of loading a checkpoint, run on a folder: its cells tagged "loading", with the switch set."""

from pathlib import Path

import jupytext

from autograde.exercises import catalogue, cells

SWITCH = 'CHECKPOINT = "bertlab-mini"'


def loaded(folder: Path) -> dict:
    """The notebook's names after it has loaded this folder into the solution's layers."""
    names = cells.namespace(catalogue.find("fill-in"))
    written = jupytext.read(cells.SOLUTIONS / "05_bert.py").cells
    sources = [cell.source for cell in written if "loading" in cell.metadata.get("tags", ())]
    assert sum(SWITCH in source for source in sources) == 1
    for source in sources:
        exec(source.replace(SWITCH, f"CHECKPOINT = {str(folder)!r}"), names)
    return names
