"""`autograde demo`: an invented class is graded like a real one, from an empty folder to the pages.

The twelve notebooks are made from the released notebook, the solution's own cells and the known mistakes, so the class
changes with the course. The same course gives the same class.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from autograde.exercises import catalogue, cells
from autograde.exercises.spec import Exercise
from autograde.grader.book.course import make_course
from autograde.grader.book.gradebook import given_by_people
from autograde.grader.grading.grade import Report, grade, open_assignment
from autograde.grader.grading.results import Result, load_results
from autograde.grader.pages.feedback import write_feedback
from autograde.grader.pages.report import report_page
from autograde.release import editions as making
from autograde.release.assignment import write_assignment
from autograde.sandbox.launchers import SharedLauncher
from bertlab.common.files import write_text

NOTEBOOK = ASSIGNMENT = "03_attention"
# First cell of the hostile student: reads files, opens connections, gives itself points, kills processes.
_HOSTILE = """
import builtins, os, socket
print(os.listdir(".."), [name for name in os.listdir("/proc") if name.isdigit()])
try:
    socket.create_connection(("192.0.2.1", 80), timeout=1)
except OSError as refused:
    print(refused)
builtins.check = lambda thing: {"points": 100}
os.kill(os.getppid(), 9)
"""


@dataclass(frozen=True)
class Graded:
    """The results of the demo. feedback: the pages by student."""

    run: Report
    results: list[Result]
    report: Path
    feedback: dict[str, Path]


def grade_sample_class(
    course: Path,
    launcher: SharedLauncher,
    workers: int = 2,
    progress: Callable[[str, int, int], None] = lambda *done: None,
) -> Graded:
    """Makes the course if it does not exist, grades all students without a grade, and writes the pages."""
    made = making.make(NOTEBOOK)
    make_course(course)
    if not (course / "release" / ASSIGNMENT / f"{NOTEBOOK}.ipynb").exists():
        write_assignment(course, ASSIGNMENT, [made])
    for student, text in make_class(made).items():
        path = course / "submitted" / student / ASSIGNMENT / f"{NOTEBOOK}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, text)
    assignment = open_assignment(course, ASSIGNMENT)
    run = grade(assignment, launcher, workers=workers, progress=progress)
    results = sorted(load_results(course, ASSIGNMENT), key=lambda result: result.student)
    report = course / "reports" / f"{ASSIGNMENT}.html"
    report.parent.mkdir(exist_ok=True)
    write_text(report, report_page(results, ASSIGNMENT))
    given = given_by_people(course, ASSIGNMENT, assignment.templates)
    feedback = {result.student: write_feedback(course, result, **given(result)) for result in results}
    return Graded(run, results, report, feedback)


def summary_lines(graded: Graded) -> list[str]:
    """One line per student, then the paths of the pages."""
    lines = []
    for result in graded.results:
        points = sum(verdict.points for verdict in result.verdicts)
        possible = sum(verdict.max_points for verdict in result.verdicts)
        named = [f"{verdict.label.split()[0]} {verdict.misconception}" for verdict in result.verdicts
                 if verdict.misconception]  # fmt: skip
        said = result.problem or result.technical or (f"mistakes: {', '.join(named)}" if named else "")
        lines.append(f"{result.student:<6} {points:>4g} of {possible:g}  {said}".rstrip())
    return [*lines, f"class report   {graded.report}", f"feedback       {graded.report.parents[1] / 'feedback'}"]


# --- the class ---


def make_class(editions: making.Editions) -> dict[str, str | bytes]:
    """The submissions by student: the text of a notebook file.

    All right, with mistakes, half done, without metadata, damaged, hostile, another document, hardly anything right, a
    Python script, a program that ends itself, unfinished, a mistake that later answers build on.
    """
    exercises = catalogue.of_notebook(editions.name)
    right = {exercise.id: cells.answer_cell(exercise) for exercise in exercises}
    wrong = {exercise.id: cells.patched_cell(exercise, exercise.misconceptions[-1]) for exercise in exercises}
    some_wrong = {one.id: cells.patched_cell(one, one.misconceptions[0]) for one in exercises[::3]}
    ending_itself = {exercises[4].id: f"import os\nos._exit(0)\n{right[exercises[4].id]}"}
    return {
        "ada": _notebook(editions, right),
        "ben": _notebook(editions, right | some_wrong),
        "cleo": _notebook(editions, dict(list(right.items())[: len(right) // 2])),
        "dora": _stripped(_notebook(editions, right)),
        "eli": _notebook(editions, right)[: -len(right) * 500],
        "finn": _notebook(editions, {}, in_front=_HOSTILE),
        "gus": "%PDF-1.7\n",
        "hana": _notebook(editions, _first(5, wrong)),
        "ivan": _script(_notebook(editions, _first(4, right))),
        "jule": _notebook(editions, _first(4, right) | ending_itself),
        "kim": _notebook(editions, _first(3, right) | _unfinished(exercises[3:5])),
        "lena": _notebook(editions, _first(8, right) | _first(3, wrong, 2)),
    }


def _first(number: int, answers: dict[str, str], begin: int = 0) -> dict[str, str]:
    return dict(list(answers.items())[begin:number])


def _unfinished(exercises: tuple[Exercise, ...]) -> dict[str, str]:
    """One answer that is not Python yet, the others raise an error."""
    first, *others = exercises
    return {first.id: f"{cells.answer_cell(first)}\nprint((1, 2)"} | {
        exercise.id: f"{cells.answer_cell(exercise)}\nprint(unknown_name)" for exercise in others
    }


def _notebook(editions: making.Editions, answers: dict[str, str], in_front: str = "") -> str:
    """The student edition with these answers (exercise → source); in_front: a cell before the first of them."""
    content = json.loads(editions.student)
    for cell in content["cells"]:
        lines = answers.get(_grade_id(cell), cell["source"]).splitlines()
        cell["source"] = "\n".join(line for line in lines if "### " not in line)  # without the marks of solutions
    if in_front:
        index = next(index for index, cell in enumerate(content["cells"]) if _grade_id(cell))
        own = {"cell_type": "code", "id": "own", "metadata": {}, "source": in_front, "outputs": []}
        content["cells"].insert(index, own | {"execution_count": None})
    return json.dumps(content)


def _grade_id(cell: dict) -> str | None:
    return cell["metadata"].get("nbgrader", {}).get("grade_id")


def _stripped(notebook: str) -> str:
    """The same cells without ids and metadata, as some editors save them."""
    content = json.loads(notebook)
    for cell in content["cells"]:
        cell["metadata"] = {}
        del cell["id"]
    return json.dumps(content | {"nbformat_minor": 0, "metadata": {}})


def _script(notebook: str) -> str:
    """The notebook as Jupyter exports it: a Python script with a mark above each cell."""
    texts = (cell["source"] for cell in json.loads(notebook)["cells"] if cell["cell_type"] == "code")
    return "#!/usr/bin/env python\n# coding: utf-8\n" + "".join(f"\n# In[ ]:\n\n\n{text}\n" for text in texts)
