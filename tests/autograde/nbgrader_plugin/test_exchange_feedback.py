"""Feedback through nbgrader's exchange: the page is where the student's own nbgrader looks for it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from grader_course import TEMPLATE, TEMPLATES, WORK, make_gradebook, release
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange.default import ExchangeReleaseFeedback
from nbgrader.utils import notebook_hash

from autograde.cli import cli
from autograde.grader.book.course import make_course
from autograde.grader.book.gradebook import Gradebook
from autograde.grader.grading.autograded import record_results
from autograde.grader.grading.results import Result
from autograde.grader.reading.repair import read_submission
from autograde.judging.verdict import Verdict

NOTEBOOK = "03_attention"


@pytest.fixture
def course(tmp_path):
    """jane's hand-in as the exchange leaves it, graded by `autograde`."""
    folder = tmp_path / "course"
    work = folder / "submitted/jane/ps3"
    work.mkdir(parents=True)
    release(folder)
    make_gradebook(folder)
    make_course(folder, "bert")
    (work / f"{NOTEBOOK}.ipynb").write_bytes(WORK)
    (work / "timestamp.txt").write_text("2026-01-30 12:00:00.000000 UTC")
    (work / "submission_secret.txt").write_text("5ec2e7")
    verdicts = (Verdict("scores", "3.1 scores", "passed", 3, 3),)
    result = Result("ps3", "jane", NOTEBOOK, verdicts, handed_in="2026-01-30 12:00:00 UTC")
    submission = read_submission(work / f"{NOTEBOOK}.ipynb", TEMPLATE)
    with Gradebook(folder) as book:
        record_results(book, [(result, submission)], TEMPLATES)
    return folder


def _with_autograde(course: Path) -> None:
    assert CliRunner().invoke(cli, ["feedback", "ps3", "--course", str(course)]).exit_code == 0


def _with_nbgrader(course: Path) -> None:
    words = [sys.executable, "-m", "nbgrader", "generate_feedback", "ps3"]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])}
    subprocess.run(words, cwd=course, env=environment, check=True, capture_output=True, timeout=120)


@pytest.mark.parametrize("write", [_with_autograde, _with_nbgrader])
def test_feedback_of_the_exchange_is_released_from_either_command(course, tmp_path, write):
    write(course)
    exchange = tmp_path / "exchange"
    exchange.mkdir()
    place = CourseDirectory(course_id="bert", root=str(course), assignment_id="ps3")
    ExchangeReleaseFeedback(coursedir=place, root=str(exchange)).start()
    name = notebook_hash(secret="5ec2e7", notebook_id=NOTEBOOK)
    assert "3.1 scores" in (exchange / f"bert/feedback/{name}.html").read_text(encoding="utf-8")
