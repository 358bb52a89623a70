"""A course with one released assignment, and ways to hand something in: shared by the tests of the grading loop."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from autograde.common.errors import SandboxError
from autograde.exercises import catalogue
from autograde.exercises.catalogue import of_notebook
from autograde.exercises.cells import answer_cell, stub_cell
from autograde.grader.book.course import make_course
from autograde.grader.book.gradebook import Gradebook
from autograde.grader.grading.grade import Assignment, open_assignment
from autograde.grader.grading.notebook_grading import grade_notebook
from autograde.grader.grading.results import Result, load_results
from autograde.grader.grading.submission import LIMITS
from autograde.grader.reading.template import Template
from autograde.release import editions
from autograde.release.assignment import write_assignment
from autograde.sandbox.launchers import SharedLauncher

NAME, NOTEBOOK = "ps3", "03_attention"
SECRET = bytes(range(32)).hex()
POINTS = sum(exercise.points for exercise in catalogue.of_notebook(NOTEBOOK))
LAYER = "multi-head-layer"  # its questions take as long as those of all functions: most tests leave it out
FUNCTIONS = tuple(exercise for exercise in catalogue.of_notebook(NOTEBOOK) if exercise.id != LAYER)
POINTS_OF_FUNCTIONS = sum(exercise.points for exercise in FUNCTIONS)

EXPECTED = {
    "right": POINTS_OF_FUNCTIONS, "wrong": POINTS_OF_FUNCTIONS - 3, "broken": 0, "deadly": POINTS_OF_FUNCTIONS - 2
}  # fmt: skip


def released_course(folder: Path) -> Path:
    """A course as `autograde init` and `autograde release` leave it, with a secret that is the same every time."""
    make_course(folder)
    (folder / ".autograde/secret").write_text(SECRET)
    write_assignment(folder, NAME, [editions.make(NOTEBOOK)])
    return folder


def copied(course: Path, folder: Path) -> Path:
    shutil.copytree(course, folder, dirs_exist_ok=True)
    return folder


def small_class(folder: Path) -> Path:
    """A course with four submissions, in which nobody attempted the layer; what they must earn is `EXPECTED`."""
    course, untouched = released_course(folder), {LAYER: stub_cell(answer(LAYER))}
    hand_in(course, "right", solved(untouched))
    hand_in(course, "wrong", solved(untouched | {"scores": answer("scores").replace("/ d_attn**0.5", "")}))
    hand_in(course, "broken", "hello")
    hand_in(course, "deadly", solved(untouched | {"concat-heads": "import os\nos._exit(1)"}))
    return course


def open_shared_launcher() -> SharedLauncher:
    """SharedLauncher, or a skipped test where this machine allows none."""
    launcher = SharedLauncher()
    try:
        launcher.open()
    except SandboxError as error:
        pytest.skip(f"no sandbox can be made here: {error}")
    return launcher


def solved(edits: dict[str, str] | None = None, after: dict[str, str] | None = None, notebook: str = NOTEBOOK) -> str:
    """The solution notebook; edits: exercise → another answer; after: exercise → a cell put behind its answer."""
    content = json.loads(editions.make(notebook).source)
    cells = []
    for cell in content["cells"]:
        name = cell["metadata"].get("nbgrader", {}).get("grade_id")
        cells.append(cell | {"source": (edits or {}).get(name, cell["source"])})
        if name in (after or {}):
            cells.append({"cell_type": "code", "id": f"own-{name}", "metadata": {}, "source": after[name],
                          "outputs": [], "execution_count": None})  # fmt: skip
    return json.dumps(content | {"cells": cells})


def released_template(notebook: str = NOTEBOOK) -> Template:
    return Template.read(editions.make(notebook).student.encode(), notebook)


def grade_alone(source, launcher, template: Template, exercises=None, limits=LIMITS, student="jane", sha256=""):
    """The record of one notebook, a path or text, and its verdicts by exercise."""
    source = source.encode() if isinstance(source, str) else source
    blank, exercises = Result(NAME, student, template.name, sha256=sha256), exercises or of_notebook(template.name)
    result = grade_notebook(source, template, exercises, launcher, blank, b"s" * 32, limits).result
    return result, {verdict.exercise: verdict for verdict in result.verdicts}


def answer(exercise: str) -> str:
    """The solution's own cell."""
    return answer_cell(catalogue.find(exercise))


def hand_in(course: Path, student: str, text: str | bytes, name: str = NAME, notebook: str = NOTEBOOK) -> Path:
    path = course / "submitted" / student / name / f"{notebook}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def opened(course: Path, **options) -> Assignment:
    return open_assignment(course, NAME, **options)


def result_of(course: Path, student: str) -> Result:
    return Result.load(Result(NAME, student, NOTEBOOK).path(course))


def verdict_of(course: Path, student: str, exercise: str):
    return next(verdict for verdict in result_of(course, student).verdicts if verdict.exercise == exercise)


def grades_of(course: Path) -> dict[str, float]:
    with Gradebook(course) as book:
        return {row["student"]: row["score"] for row in book.grades()}


def records_of(course: Path) -> list:
    return [replace(result, seconds=0.0) for result in load_results(course, NAME)]


def outcome(course: Path) -> tuple:
    return grades_of(course), records_of(course)
