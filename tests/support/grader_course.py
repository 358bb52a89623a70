"""A tiny released notebook and ways to write a submission to it: shared by the tests of the grader."""

import json
import zipfile

from click.testing import CliRunner

from autograde.cli import cli
from autograde.grader.book.gradebook import Gradebook
from autograde.grader.grading.results import Result
from autograde.grader.reading.template import Template
from autograde.judging.verdict import Verdict

ANSWERS = {
    "scores": "def attention_scores(q, k):\n    return q @ k.T / k.shape[-1] ** 0.5",
    "weights": "def attention_weights(s):\n    e = np.exp(s - s.max(-1))\n    return e / e.sum(-1, keepdims=True)",
    "head": "class Head:\n    def __init__(self, d):\n        self.d = d\n\n    def call(self, x):\n        return x",
    "why": "Because a sum of d products has variance d, and the softmax would saturate.",
}
STUBS = {
    "scores": "def attention_scores(q, k):\n    # YOUR CODE HERE\n    raise NotImplementedError",
    "weights": "def attention_weights(s):\n    # YOUR CODE HERE\n    raise NotImplementedError",
    "head": "class Head:\n    # YOUR CODE HERE\n    ...",
    "why": "YOUR ANSWER HERE",
}
NAMES = {"scores": "attention_scores", "weights": "attention_weights", "head": "Head"}


def cell(source, kind="code", **graded):
    metadata = {"nbgrader": {"schema_version": 3, **graded}} if graded else {}
    extra = {"outputs": [], "execution_count": None} if kind == "code" else {}
    return {"cell_type": kind, "metadata": metadata, "source": source, **extra}


def _answer_cells(exercise, source):
    points = {"scores": 3, "weights": 2, "head": 4, "why": 2}[exercise]
    if exercise == "why":
        return [cell(source, "markdown", grade_id="why", solution=True, grade=True, locked=False, points=points)]
    answer = cell(source, grade_id=exercise, solution=True, grade=False, locked=False)
    test = dict(grade_id=f"check_{exercise}", solution=False, grade=True, locked=True, points=points)
    return [answer, cell(f"check({NAMES[exercise]})", **test)]


def notebook(sources):
    """A notebook as a dict; sources: text of each answer cell by exercise."""
    cells = [
        cell("# Attention", "markdown"),
        cell("import numpy as np", grade_id="setup", solution=False, grade=False, locked=True),
    ]
    for number, (exercise, source) in enumerate(sources.items()):
        cells.append(cell(f"## {number}. The exercise called {exercise}", "markdown"))
        cells += _answer_cells(exercise, source)
    cells.append(cell("print('see it')"))
    return {"cells": cells, "metadata": {"kernelspec": {"name": "python3"}}, "nbformat": 4, "nbformat_minor": 5}


def as_bytes(content) -> bytes:
    return json.dumps(content).encode()


def released() -> bytes:
    return as_bytes(notebook(STUBS))


NB = "03_attention.ipynb"
WORK = as_bytes(notebook(ANSWERS))  # a hand-in
RULE = """c = get_config()
c.AssignLatePenalties.plugin_class = "autograde.nbgrader_plugin.late_penalty.PerDay"
c.PerDay.percent = 10
"""
TEMPLATE = Template.read(released(), "03_attention")
TEMPLATES = {"03_attention": TEMPLATE}


def run(course, *arguments, code=0) -> str:
    """What a command of `autograde` prints for a course."""
    outcome = CliRunner().invoke(cli, [*map(str, arguments), "--course", str(course)])
    if outcome.exception and not isinstance(outcome.exception, SystemExit):
        raise outcome.exception
    assert outcome.exit_code == code, outcome.output
    return outcome.output


def packed(course, system, code=0) -> tuple[str, dict[str, bytes]]:
    """The feedback for a system: what the command prints, and the files of the zip."""
    said = run(course, "feedback", "ps3", "--zip", system, "--to", course / f"{system}.zip", code=code)
    with zipfile.ZipFile(course / f"{system}.zip") as found:
        return said, {name: found.read(name) for name in found.namelist()}


def grade_as(course, student, points=3.0, assignment="ps3", label="3.1 scores", handed_in="") -> None:
    """Records one exercise with these points, of 3, as grading does."""
    status = "passed" if points == 3 else "partly" if points else "wrong"
    verdict = Verdict("scores", label, status, points, 3, advice=("Divide by the square root of d.",))
    result = Result(assignment, student, "03_attention", (verdict,), handed_in=handed_in)
    result.save(course)
    with Gradebook(course) as book:
        book.write(assignment, student, [result], TEMPLATES)


def release(course) -> None:
    """The released notebook of ps3."""
    (course / "release/ps3").mkdir(parents=True)
    (course / "release/ps3" / NB).write_bytes(released())


def make_gradebook(folder) -> None:
    """gradebook.db as `nbgrader generate_assignment` leaves it: the cells of the release, no submissions."""
    with Gradebook(folder) as course:
        book = course.book
        book.add_assignment("ps3", duedate="2026-02-01 12:00:00 UTC")
        book.add_notebook("03_attention", "ps3")
        for cell in TEMPLATE.cells:
            where = cell.grade_id, "03_attention", "ps3"
            if cell.cell.graded:
                book.add_grade_cell(*where, max_score=cell.cell.points, cell_type=cell.cell.kind)
            if cell.cell.solution:
                book.add_solution_cell(*where)
            if cell.grade_id:
                book.add_source_cell(*where, cell_type=cell.cell.kind, source=cell.cell.source, locked=cell.cell.locked)
