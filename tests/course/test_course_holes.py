"""A hole in a notebook stops no cell that does not need it, and what it stops says so in one line."""

import ast
import json

import nbformat
import pytest
from colab_machine import solved
from nbclient import NotebookClient

from autograde.common.dependencies import ParsedCell
from autograde.exercises import notebooks
from autograde.release import editions

NOTEBOOKS = editions.notebooks()


def _statements(source):
    """The top-level statements of a cell: names defined, names read, and whether it is a function or class."""
    for node in ast.parse(source).body:
        is_definition = isinstance(node, (ast.FunctionDef, ast.ClassDef))
        cell = ParsedCell(ast.unparse(node))
        yield cell.defines, cell.reads, is_definition


def _stopped(cells, hole: str, whole_cells: bool) -> set[int]:
    """The lines of the cells that are stopped without the answer to `hole`.

    whole_cells: as in a kernel, where a cell ends at its first error; False: only statements that need the answer.
    """
    lacking, stopped = set(), set()
    for cell in cells:
        if cell.graded.get("grade_id") == hole:
            lacking |= ParsedCell(cell.source).defines
            continue
        has_ended = False
        for defines, reads, is_definition in _statements(cell.source):
            if reads & lacking or (whole_cells and has_ended):
                lacking |= defines
                has_ended = has_ended or not is_definition
            else:
                lacking -= defines
        if has_ended:
            stopped.add(cell.line)
    return stopped


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_cell_is_stopped_only_by_an_exercise_that_it_needs(name):
    """Helpers such as `rng` that several cells use are made in the set-up, not below a call to an exercise."""
    cells = [cell for cell in notebooks.cells_of(name) if cell.is_code and not cell.source.startswith("check(")]
    for hole in notebooks.facts_of(name):
        assert _stopped(cells, hole, whole_cells=True) == _stopped(cells, hole, whole_cells=False), hole


def test_a_helper_below_a_hole_is_found(tmp_path):
    text = (
        '# %% nbgrader={"grade_id": "twice", "solution": true}\ndef twice(x):\n    return 2 * x\n'
        "# %%\nprint(twice(1))\nhelper = 1\n# %%\nprint(helper)\n# %%\nprint(0)\n"
    )
    (tmp_path / "09_x.py").write_text(text)
    cells = notebooks._cells(tmp_path / "09_x.py", 0)
    assert _stopped(cells, "twice", whole_cells=True) == {4, 7} and _stopped(cells, "twice", whole_cells=False) == {4}


def _run(tmp_path, name, content):
    (tmp_path / name).mkdir()
    notebook = nbformat.from_dict(content)
    resources = {"metadata": {"path": str(tmp_path / name)}}
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources=resources).execute()  # raises for an error
    return [
        "".join(output.get("text", "") for output in cell.outputs if output.output_type == "stream")
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_with_every_stub_empty_the_notebook_runs_to_its_end_without_an_error(name, tmp_path):
    texts = _run(tmp_path, name, json.loads(editions.make(name).student))
    assert any(text.startswith("Solve ") or "\nSolve " in text for text in texts)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", [name for name in NOTEBOOKS if not name.startswith("00")])
def test_with_one_unsolved_exercise_only_cells_that_need_it_report_it(name, tmp_path):
    made, facts = editions.make(name), list(notebooks.facts_of(name).values())
    hole = facts[len(facts) // 2]
    stub, content = json.loads(made.student), solved(made)
    for cell, empty in zip(content["cells"], stub["cells"]):
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == hole.id:
            cell["source"] = empty["source"]
    said = [line for text in _run(tmp_path, name, content) for line in text.splitlines() if line.startswith("Solve ")]
    assert set(said) <= {f"Solve {hole.number} {hole.name} first: this cell uses it."}
