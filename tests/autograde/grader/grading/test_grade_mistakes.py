"""Known mistakes run in sandboxes of their own: workers do not wait for one another, and no worker loads TensorFlow."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from grade_class import FUNCTIONS as EXERCISES
from grade_class import NOTEBOOK, answer, released_template, solved

from autograde.grader.grading.budget import Budget
from autograde.grader.grading.mistakes import name_mistakes
from autograde.grader.grading.results import Result
from autograde.grader.grading.run_cells import run_program
from autograde.grader.grading.submission import LIMITS, plan_task
from autograde.grader.reading.repair import read_submission

UNSCALED = {"scores": answer("scores").replace("/ d_attn**0.5", "")}


@pytest.fixture(scope="module")
def wrong(launcher):
    """A task with one known mistake, and what is known after its run."""
    template = released_template()
    submission = read_submission(solved(UNSCALED).encode(), template)
    task = plan_task(submission, template, EXERCISES, Result("ps3", "jane", NOTEBOOK), b"s" * 32, LIMITS)
    return task, run_program(task, launcher, Budget.of(LIMITS))


class Meeting:
    """A launcher whose sandboxes are handed out only when two workers want one at the same time."""

    def __init__(self, launcher):
        self.launcher, self.place = launcher, threading.Barrier(2, timeout=60)

    def start(self, limits, seed=None):
        self.place.wait()
        return self.launcher.start(limits, seed)


@pytest.mark.slow
def test_two_workers_name_mistakes_at_the_same_time(launcher, wrong):
    """With one lock for all workers the second would wait for the first, which waits for the second."""
    task, outcome = wrong
    meeting = Meeting(launcher)
    with ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(name_mistakes, task, outcome, meeting, Budget.of(LIMITS)) for _ in range(2)]
        named = [job.result() for job in jobs]
    scores = next(exercise for exercise in EXERCISES if exercise.id == "scores")
    assert [one.verdict(scores).misconception for one in named] == ["unscaled", "unscaled"]
    assert not any(one.technical for one in named)


@pytest.mark.slow
def test_naming_is_within_the_submissions_budget(launcher, wrong):
    task, outcome = wrong
    budget = Budget.of(LIMITS)
    name_mistakes(task, outcome, launcher, budget)
    assert budget.started == 1 and budget.cpu > 0
    spent = _all_spent(budget)
    assert name_mistakes(task, outcome, launcher, spent) == outcome


def _all_spent(budget: Budget) -> Budget:
    """A budget of which nothing is left."""
    nothing = Budget(budget.wall_seconds, budget.cpu_seconds)
    nothing.wall = budget.wall_seconds
    return nothing


def test_grading_needs_no_tensorflow_outside_its_sandboxes():
    modules = ", ".join(f"autograde.grader.grading.{name}" for name in ("grade", "notebook_grading", "training_runs"))
    script = f"import sys, {modules}\nassert 'tensorflow' not in sys.modules and 'keras' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)
