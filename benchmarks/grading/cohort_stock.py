"""Stock nbgrader on the same submissions: its own Execute, and test cells that assert in the kernel, on the visible
inputs, what ours asks for on hidden ones.

Part of `benchmarks.grading.grade_cohort`.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from autograde.exercises import catalogue
from autograde.exercises.planning.planner import write_fingerprints
from autograde.grader.book.gradebook import Gradebook
from autograde.release import editions
from autograde.release.assignment import write_assignment
from benchmarks.grading.cohort_class import ASSIGNMENTS, ROOT, Student
from benchmarks.grading.cohort_course import hand_in, timed
from bertlab.common.backend import load_backend


def stock_course(folder: Path, students: list[Student]) -> Path:
    folder.mkdir(parents=True)
    (folder / "nbgrader_config.py").write_text("c = get_config()\nc.ExecutePreprocessor.timeout = 60\n")
    for notebook, assignment in ASSIGNMENTS.items():
        content = json.loads(editions.make(notebook).source)
        for cell in content["cells"]:
            if cell["metadata"].get("nbgrader", {}).get("grade"):
                cell["source"] = f"assert {cell['source'].strip()}.verdict.passed"
        write_assignment(folder, assignment, [editions.Editions(notebook, json.dumps(content), "")])
    hand_in(folder, students)
    return folder


def some_of_each(students: list[Student], max_students: int) -> list[Student]:
    """The first of them, as many of each notebook; its time for one hardly depends on whose it is."""
    chosen = []
    for notebook in ASSIGNMENTS:
        chosen += [student for student in students if student.notebook == notebook][: max_students // len(ASSIGNMENTS)]
    return chosen


def graded_by_stock(course: Path) -> dict:
    """`nbgrader autograde` for each assignment; what they took together."""
    load_backend()
    exercises = [exercise for notebook in ASSIGNMENTS for exercise in catalogue.of_notebook(notebook)]
    fingerprints = course / "fingerprints"
    write_fingerprints(exercises, fingerprints)
    runs = [timed(_start(course, assignment, fingerprints)) for assignment in ASSIGNMENTS.values()]
    total = {key: sum(run[key] for run in runs) for key in ("seconds", "cpu")}
    return total | {key: max(run[key] for run in runs) for key in ("peak", "early", "late")}


def _start(course: Path, assignment: str, fingerprints: Path) -> subprocess.Popen:
    folder = Path(sys.executable).parent
    environment = os.environ | {
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "AUTOGRADE_FINGERPRINTS": str(fingerprints),
        "PYTHONPATH": str(ROOT),
    }  # fmt: skip
    return subprocess.Popen([str(folder / "nbgrader"), "autograde", assignment], cwd=course, env=environment,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip


def all_points(course: Path, students: list[Student]) -> tuple[int, int]:
    """(right submissions that stock gives all points, right submissions)."""
    with Gradebook(course) as book:
        grades = {row["student"]: row["score"] for row in book.grades() if row["submitted"]}
    right = [student for student in students if student.kind == "right"]
    return sum(grades.get(student.name) == student.max_points for student in right), len(right)
