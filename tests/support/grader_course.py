"""A tiny released notebook and ways to write a submission to it: shared by the tests of the grader."""

import json

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


def make_gradebook(folder) -> None:
    """gradebook.db as `nbgrader generate_assignment` leaves it: the cells of the release, no submissions."""
    from autograde.grader.book.gradebook import Gradebook
    from autograde.grader.reading.template import Template

    with Gradebook(folder) as course:
        book = course.book
        book.add_assignment("ps3", duedate="2026-02-01 12:00:00 UTC")
        book.add_notebook("03_attention", "ps3")
        for cell in Template.read(released(), "03_attention").cells:
            where = cell.grade_id, "03_attention", "ps3"
            if cell.cell.graded:
                book.add_grade_cell(*where, max_score=cell.cell.points, cell_type=cell.cell.kind)
            if cell.cell.solution:
                book.add_solution_cell(*where)
            if cell.grade_id:
                book.add_source_cell(*where, cell_type=cell.cell.kind, source=cell.cell.source, locked=cell.cell.locked)
