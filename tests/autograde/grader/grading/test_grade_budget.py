"""One budget for all notebooks of a submission, and a bounded number of gradings of a program that is killed."""

import time
from dataclasses import replace

import pytest
from grade_class import NAME, NOTEBOOK, hand_in, opened, released_course, result_of, solved

from autograde.exercises import catalogue
from autograde.grader.book.course import make_course
from autograde.grader.grading.budget import MAX_SANDBOXES, Budget
from autograde.grader.grading.grade import MAX_TRIES, anything_new, counted, digest, grade, open_assignment
from autograde.grader.grading.results import Result, load_results
from autograde.grader.grading.submission import LIMITS
from autograde.release import editions
from autograde.release.assignment import write_assignment

SLEEPING = ("03_attention", "04_encoder_layer", "05_bert", "08_finetuning")


def test_nine_notebooks_get_twice_the_time_of_one():
    one, nine = Budget.of(LIMITS), Budget.of(LIMITS, 9)
    assert (nine.wall_seconds, nine.cpu_seconds) == (2 * one.wall_seconds, 2 * one.cpu_seconds)
    for left in range(9, 0, -1):  # as `grade_submission` shares it: each of nine that use up all they get
        share = nine.part(1 / left)
        assert share.wall_seconds > 60 and share.started == 0
        share.wall, share.started = share.wall_seconds, MAX_SANDBOXES
        nine.take(share)
    assert nine.spent_on


def test_a_notebook_has_as_many_starts_for_a_later_one_as_alone():
    """An earlier notebook had fewer, so its grade depended on the order of grading."""
    budget = Budget.of(LIMITS)
    budget.started = MAX_SANDBOXES
    assert "starts" in budget.spent_on
    assert budget.part(0.5).spent_on is None and Budget.of(LIMITS, 9).part(1 / 9).started == 0


class Timed:
    """A launcher that counts for how long its sandboxes were open, without the time they waited for a processor."""

    def __init__(self, launcher):
        self.launcher, self.seconds = launcher, 0.0

    def start(self, limits, seed=None):
        sandbox, began = self.launcher.start(limits, seed), time.monotonic()
        close = sandbox.close

        def closed():
            close()
            self.seconds += max(0.0, time.monotonic() - began - sandbox.usage()["waited_seconds"])

        sandbox.close = closed
        return sandbox


@pytest.mark.exhaustive
def test_several_sleeping_notebooks_hold_a_worker_as_long_as_two(tmp_path, launcher):
    make_course(tmp_path)
    write_assignment(tmp_path, "all", [editions.make(name) for name in SLEEPING])
    folder = tmp_path / "submitted/jane/all"
    folder.mkdir(parents=True)
    for name in SLEEPING:
        asleep = {exercise.id: "import time\ntime.sleep(1.5)" for exercise in catalogue.of_notebook(name)}
        (folder / f"{name}.ipynb").write_text(solved(after=asleep, notebook=name))
    timed = Timed(launcher)
    assignment = open_assignment(tmp_path, "all", replace(LIMITS, cell_seconds=2.0, wall_seconds=6.0))
    report = grade(assignment, timed)
    assert report.graded == 1
    assert 9 < timed.seconds < 17  # 12 and the ends of sandboxes; each for itself had 6: 24
    assert all("not reached in time" in result.technical for result in load_results(tmp_path, "all"))


# --- killed again and again ---


def test_a_file_that_is_killed_each_time_is_tried_three_times(tmp_path):
    course = released_course(tmp_path / "course")
    path = hand_in(course, "jane", solved())
    killed = Result(NAME, "jane", NOTEBOOK, sha256=digest(path), again=True, technical="killed")
    for tries in range(1, MAX_TRIES + 1):
        record = counted(course, killed)
        record.save(course)
        assert record.tries == tries
        assert anything_new(opened(course)) is (tries < MAX_TRIES)
    assert f"tried {MAX_TRIES} times and not again" in record.technical
    hand_in(course, "jane", solved() + " ")
    assert counted(course, replace(killed, sha256=digest(path))).tries == 1  # another file begins at 1


@pytest.mark.exhaustive
def test_a_program_that_kills_itself_is_not_tried_for_ever(tmp_path, launcher):
    """Each `grade` took it up again at 87264fd."""
    course = released_course(tmp_path / "course")
    hand_in(course, "jane", solved({"concat-heads": "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"}))
    counts = [grade(opened(course), launcher).graded for _ in range(MAX_TRIES + 2)]
    assert counts == [1] * MAX_TRIES + [0, 0]
    result = result_of(course, "jane")
    assert (result.tries, result.again) == (MAX_TRIES, False) and "times and not again" in result.technical
