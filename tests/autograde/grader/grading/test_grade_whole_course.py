"""The whole course through the real grader: solutions earn everything, the untouched release nothing."""

import pytest
from grade_class import open_shared_launcher

from autograde.exercises import catalogue, runs
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
            path = course / "submitted" / student / name / f"{name}.ipynb"
            path.parent.mkdir(parents=True)
            path.write_text(text, encoding="utf-8")
    return course


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
