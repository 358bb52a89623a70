"""The whole course through the real grader: solutions earn everything, the untouched release nothing; and in the second
half a class of six gets the grades that were planned for it."""

import pytest
from grade_class import hand_in, open_shared_launcher, solved

from autograde.exercises import catalogue, runs
from autograde.exercises.cells import answer_cell, patched_cell, stub_cell
from autograde.grader.book.course import make_course
from autograde.grader.grading.grade import grade, open_assignment
from autograde.grader.grading.results import load_results
from autograde.release import editions
from autograde.release.assignment import write_assignment

pytestmark = pytest.mark.exhaustive


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """All notebooks, each an assignment, handed in by two: with the solutions, and as they were handed out."""
    course = tmp_path_factory.mktemp("course")
    make_course(course)
    for name in editions.notebooks():
        made = editions.make(name)
        write_assignment(course, name, [made])
        for student, text in (("solved", made.source), ("untouched", made.student)):
            hand_in(course, student, text, name, name)
    return course


SECOND_HALF = [name for name in editions.notebooks() if name[0] == "P" or name > "09"]


def planned(name: str) -> dict[str, tuple[str, float, float]]:
    """Student → (hand-in, the fewest points, the most), of a notebook's exercises without its run."""
    exercises = catalogue.of_notebook(name)
    everything, first = sum(exercise.points for exercise in exercises), exercises[0]
    half = exercises[: len(exercises) // 2]
    stubs = {exercise.id: stub_cell(answer_cell(exercise)) for exercise in exercises[len(half) :]}
    mistaken = next(exercise for exercise in exercises if exercise.misconceptions)
    mistake = patched_cell(mistaken, mistaken.misconceptions[0])
    of_half = sum(exercise.points for exercise in half)
    return {
        "everything": (solved(notebook=name), everything, everything),
        "nothing": (editions.make(name).student, 0, 0),
        "half": (solved(stubs, notebook=name), of_half, of_half),
        "mistake": (solved({mistaken.id: mistake}, notebook=name), everything - mistaken.points, everything - 0.25),
        "deadly": (solved({first.id: "import os\nos._exit(1)"}, notebook=name), *[everything - first.points] * 2),
        "broken": ("hello", 0, 0),
    }


@pytest.mark.parametrize("name", SECOND_HALF)
def test_a_class_of_six_gets_its_planned_grades(name, tmp_path):
    make_course(tmp_path)
    write_assignment(tmp_path, name, [editions.make(name)])
    plan = planned(name)
    for student, (text, _, _) in plan.items():
        hand_in(tmp_path, student, text, name, name)
    with open_shared_launcher() as launcher:
        grade(open_assignment(tmp_path, name), launcher, workers=2)
    runs_of = {run.id for run in runs.RUNS}
    earned = {
        result.student: sum(verdict.points for verdict in result.verdicts if verdict.exercise not in runs_of)
        for result in load_results(tmp_path, name)
    }
    assert earned.keys() == plan.keys()
    for student, (_, least, most) in plan.items():
        assert least <= earned[student] <= most, (student, earned[student], (least, most))


def test_solutions_earn_everything_and_the_release_nothing(course):
    runs_of = {run.id for run in runs.RUNS}
    with open_shared_launcher() as launcher:
        for name in editions.notebooks():
            report = grade(open_assignment(course, name), launcher, workers=2)
            assert report.graded == 2 and not report.failures, name
            for result in load_results(course, name):
                verdicts = [verdict for verdict in result.verdicts if verdict.exercise not in runs_of]
                assert len(verdicts) == len(catalogue.of_notebook(name))
                assert not result.technical, (name, result.student, result.technical)
                points = sum(verdict.points for verdict in verdicts)
                most = sum(exercise.points for exercise in catalogue.of_notebook(name))
                assert points == (most if result.student == "solved" else 0), (name, result.student)
