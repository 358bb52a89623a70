"""No word and no number of the sandbox that judges a training run reaches a page, a record, the gradebook or a line."""

import re
from pathlib import Path

import pytest
from grade_class import answer, solved
from test_grade_boundary import NAMED, NUMBER, WORD, sections, written
from test_grade_runs import NAME, NOTEBOOK, RUN, _hand_in, _untrained

from autograde.exercises import catalogue
from autograde.grader.book.course import make_course
from autograde.grader.grading.grade import grade, open_assignment
from autograde.grader.grading.results import Result
from autograde.release import editions
from autograde.release.assignment import write_assignment

pytestmark = pytest.mark.exhaustive
LEAKS = sections(Path(__file__).parents[3] / "hostile/training_run.py")
SETUP = LEAKS.pop("setup")
LAST = catalogue.of_notebook(NOTEBOOK)[-1].id


@pytest.fixture(scope="module")
def graded(tmp_path_factory, launcher):
    course = tmp_path_factory.mktemp("course")
    make_course(course)
    write_assignment(course, NAME, [editions.make(NOTEBOOK)])
    for student, leak in LEAKS.items():
        cell = "\n".join((answer(LAST), SETUP, leak, "with_leak(leak)"))
        _hand_in(course, student, solved({LAST: cell}, notebook=NOTEBOOK), _untrained())
    report = grade(open_assignment(course, NAME), launcher)
    return course, dict(report.failures)


@pytest.mark.parametrize("student", LEAKS)
def test_nothing_of_the_hidden_rows_is_written_down(graded, student):
    course, failures = graded
    assert student not in failures
    result = Result.load(Result(NAME, student, NOTEBOOK).path(course))
    run = next(verdict for verdict in result.verdicts if verdict.exercise == RUN.id)
    assert run.points <= 2  # untrained weights have loss 8.3; a leak may choose another
    files = [path for path in (course / "results").rglob("*") if path.is_file()]
    texts = written(course, result) | {str(path): path.read_bytes() for path in files}
    for name, text in texts.items():
        for pattern in (WORD, NUMBER, NAMED, rb"exit code"):
            found = re.search(pattern + b".{0,60}", text)
            assert not found, f"{name}: {found[0]}"


def test_only_one_leak_changes_what_is_reported_of_the_loss(graded):
    """A program chooses its logits, and with them one digit of a loss up to 10: the words show no more."""
    course, _ = graded
    for student in LEAKS:
        result = Result.load(Result(NAME, student, NOTEBOOK).path(course))
        (run,) = (verdict for verdict in result.verdicts if verdict.exercise == RUN.id)
        shown = r"loss (\d\.\d|10\.0|more than 10), accuracy \d+% at masked positions of hidden text"
        assert all(re.fullmatch(shown, text) for _, text in run.facts)
