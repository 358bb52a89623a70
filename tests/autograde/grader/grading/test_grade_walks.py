"""Solutions beside a student's code, the time of one submission, failures that no student caused, and a reason in words
for every lost point."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from grade_class import FUNCTIONS as EXERCISES
from grade_class import NAME, NOTEBOOK, answer, grade_alone, hand_in, opened, released_course, released_template, solved
from grade_class import POINTS_OF_FUNCTIONS as POINTS

from autograde.common.dependencies import ParsedCell
from autograde.common.errors import SandboxEnded
from autograde.exercises import catalogue, cells
from autograde.exercises.planning import planner
from autograde.grader.grading.budget import Budget, BudgetSpent
from autograde.grader.grading.carry_forward import NOT_REACHED, STILL_WRONG
from autograde.grader.grading.grade import anything_new, digest
from autograde.grader.grading.mistakes import name_mistakes
from autograde.grader.grading.results import Result
from autograde.grader.grading.run_cells import run_program
from autograde.grader.grading.submission import LIMITS, plan_task
from autograde.grader.reading.repair import read_submission
from autograde.release import editions
from autograde.sandbox.client import _end_of


@pytest.fixture(scope="module")
def template():
    return released_template()


@pytest.fixture
def graded(launcher, template):
    """Grades a notebook's text; returns the record and its verdicts by exercise."""

    def grade(text, limits=LIMITS, exercises=EXERCISES):
        return grade_alone(text, launcher, template, exercises, limits)

    return grade


def _reordered(text: str, *first: str) -> str:
    """The notebook with these answers, in this order, above all others."""
    content = json.loads(text)
    moved = [next(cell for cell in content["cells"] if _name(cell) == name) for name in first]
    rest = [cell for cell in content["cells"] if cell not in moved]
    place = next(n for n, cell in enumerate(rest) if cell["metadata"].get("nbgrader", {}).get("solution"))
    return json.dumps(content | {"cells": [*rest[:place], *moved, *rest[place:]]})


def _name(cell: dict) -> str | None:
    return cell["metadata"].get("nbgrader", {}).get("grade_id")


# --- the position of the solutions ---

BY_CROSS = "def attention(x, *parameters):\n    return cross_attention(x, x, *parameters)"
BY_MASKED = """
def attention(x, w_q, b_q, w_k, b_k, w_v, b_v):
    q, k, v = (ops.matmul(x, w) + b for w, b in ((w_q, b_q), (w_k, b_k), (w_v, b_v)))
    if len(x.shape) == 2:
        return masked_attention(q[None], k[None], v[None], ops.ones((1, 1, 1), "bool"))[0]
    return masked_attention(q, k, v, ops.ones((1, 1, 1), "bool"))
"""
ORDERS = {
    "cross-attention": (BY_CROSS, "def cross_attention(*given):\n    return given[0]"),
    "masked-attention": (BY_MASKED, "MASKED_SCORE = -1e9\ndef masked_attention(q, k, v, mask):\n    return q"),
}


@pytest.mark.parametrize(
    "first", [pytest.param(name, marks=pytest.mark.exhaustive if name != "cross-attention" else ()) for name in ORDERS]
)
def test_a_later_exercise_put_first_brings_no_solution_that_contains_the_tested_one(graded, first):
    """Both first seen to succeed at 50562ba."""
    leaning, wrong = ORDERS[first]
    _, verdicts = graded(_reordered(solved({"attention": leaning, first: wrong}), first))
    assert verdicts["attention"].points == 0 and verdicts[first].points == 0


def test_no_solution_uses_a_later_exercise():
    """So the release's order is one in which solutions may be put beside a student's code."""
    for notebook in dict.fromkeys(exercise.notebook for exercise in catalogue.EXERCISES):
        found = catalogue.of_notebook(notebook)
        for place, exercise in enumerate(found):
            later = {name for other in found[place + 1 :] for name in other.names}
            assert not ParsedCell(cells.answer_cell(exercise)).reads & later, exercise.id


CAPTURED = answer("mh-attention").replace("b_o: Tensor)", "b_o: Tensor, attention=attention)")


@pytest.mark.exhaustive
def test_cells_in_another_order_are_graded_as_fairly(graded):
    """The first exercise is last; one answer keeps the function that it found when its cell ran."""
    assert "attention=attention" in CAPTURED
    edits = {"attention": answer("attention").replace("(weights, v)", "(weights, v) * 2"), "mh-attention": CAPTURED}
    others = [exercise.id for exercise in EXERCISES if exercise.id not in ("concat-heads", "attention", "mh-attention")]
    for text in (solved(edits), _reordered(solved(edits), *others, "attention", "mh-attention")):
        result, verdicts = graded(text)
        assert verdicts["attention"].points == 0 and verdicts["mh-attention"].passed
        assert result.points == POINTS - verdicts["attention"].max_points


@pytest.mark.exhaustive
def test_two_answers_in_one_cell_are_tested_on_solutions_of_both(graded):
    wrong = answer("scores").replace("/ d_attn**0.5", "")
    both = f"{wrong}\n\n{answer('attention')}"
    result, verdicts = graded(_reordered(solved({"scores": "", "attention": both}), "attention"))
    assert verdicts["scores"].points == 0 and verdicts["attention"].passed
    assert result.points == POINTS - verdicts["scores"].max_points


# --- one budget ---

SHORT = replace(LIMITS, cell_seconds=2.0, wall_seconds=4.0)


@pytest.mark.exhaustive
def test_sleeping_cells_hold_a_worker_no_longer_than_the_budget(graded):
    """First seen to succeed at 50562ba: 23 s with these limits, 25 minutes with the usual ones."""
    wrong = {exercise.id: "raise ValueError" for exercise in EXERCISES[1:]}
    asleep = {exercise.id: "import time\ntime.sleep(1.5)" for exercise in EXERCISES}
    began = time.monotonic()
    _, verdicts = graded(solved(wrong, after=asleep), SHORT)
    assert time.monotonic() - began < 12  # 4 s, and what the grader itself does
    last = verdicts[EXERCISES[-1].id]
    assert (last.status, last.points) == ("technical", 0) and verdicts[EXERCISES[0].id].passed
    assert "not reached in time: it used up the 2 seconds that its submission may take" in last.technical
    assert any("not reached in time" in sentence for sentence in last.advice)


@pytest.mark.exhaustive
def test_what_follow_through_does_not_reach_says_so(graded):
    edits = {"scores": "def attention_scores(q, k):\n    return q"}
    asleep = {"cross-attention": "import time\ntime.sleep(1.8)", "concat-heads": "import time\ntime.sleep(1.8)"}
    _, verdicts = graded(solved(edits, after=asleep), SHORT)
    assert verdicts["attention"].points == 0 and NOT_REACHED in verdicts["attention"].advice


SLEEPS_AND_COMPUTES = """
import time
time.sleep(1)
while time.process_time() < 0.3:  # a system may count a process's time in steps of 0.01 s or more
    pass
"""


@pytest.mark.slow
def test_a_budget_counts_all_sandboxes_and_gives_no_more_than_is_left(launcher):
    budget = Budget(wall_seconds=6.0, cpu_seconds=30.0)
    for _ in range(2):
        with budget.sandbox(launcher, LIMITS) as sandbox:
            assert sandbox.limits.wall_seconds <= 6.0 - budget.wall
            sandbox.run_cell(SLEEPS_AND_COMPUTES)
    assert 2.0 < budget.wall < 6.0 and budget.cpu > 0 and budget.spent_on is None
    with pytest.raises(SandboxEnded), budget.sandbox(launcher, LIMITS) as sandbox:
        sandbox.run_cell("import time; time.sleep(9)")
    assert sandbox.ended.reason == "wall clock" and "6 seconds" in budget.spent_on
    with pytest.raises(BudgetSpent), budget.sandbox(launcher, LIMITS):
        pass


def _read_beside_code(template, cells: int):
    """The solution beside so many cells of 100 kB, and the seconds of reading it."""
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    content = json.loads(solved())
    content["cells"] += [cell | {"source": f"x={n}\n" + "x=1;" * 24_900} for n in range(cells)]
    began = time.thread_time()
    submission = read_submission(json.dumps(content).encode(), template)
    return submission, time.thread_time() - began


def test_megabytes_of_code_are_refused_before_they_are_parsed(template):
    """First seen to succeed at 50562ba: nine minutes were not enough for it."""
    submission, seconds = _read_beside_code(template, 70)
    assert seconds < 5
    assert "holds too much code" in submission.problem.message and not submission.answers


@pytest.mark.exhaustive
def test_as_much_code_as_is_read_costs_seconds(template):
    submission, seconds = _read_beside_code(template, 3)  # the release has 118 kB, most of it pictures in texts
    assert submission.problem is None and len(submission.answers) == len(catalogue.of_notebook(NOTEBOOK))
    assert seconds < 20


# --- killed from outside ---


class Killing:
    """A launcher whose sandboxes are killed while they sleep, as by a kernel that is short of memory."""

    def __init__(self, launcher, times: int):
        self.launcher, self.times = launcher, times

    def start(self, limits, seed=None):
        sandbox = self.launcher.start(limits, seed)
        if self.times:
            self.times -= 1
            threading.Timer(1.0, os.kill, (sandbox._agent, signal.SIGKILL)).start()
        return sandbox


@pytest.fixture
def graded_while_killed(launcher, template):
    def grade(times):
        text = solved(after={"causal-mask": "import time\ntime.sleep(3)"})
        return grade_alone(text, Killing(launcher, times), template, EXERCISES)[0]

    return grade


@pytest.mark.slow
def test_a_sandbox_that_is_killed_from_outside_costs_nothing(graded_while_killed):
    result = graded_while_killed(1)
    assert (result.points, result.technical, result.again) == (POINTS, None, False)


@pytest.mark.exhaustive
def test_one_that_is_killed_twice_is_technical_and_tried_again_by_the_next_grade(graded_while_killed):
    result = graded_while_killed(2)
    assert result.again and "killed from outside" in result.technical and "tries again" in result.technical
    assert Result.from_json(result.to_json()) == result


def test_the_next_grade_takes_up_what_was_killed_from_outside(tmp_path):
    course = released_course(tmp_path / "course")
    path = hand_in(course, "jane", solved())
    record = Result(NAME, "jane", NOTEBOOK, sha256=digest(path))
    for again in (False, True):
        replace(record, again=again).save(course)
        assert anything_new(opened(course)) is again


@pytest.mark.parametrize(
    "code, used, over, reason",
    [
        (-9, 1.0, False, "killed from outside"),
        (-9, 1.0, True, "memory"),
        (-9, 10.0, False, "cpu time"),
        (-24, 1.0, False, "cpu time"),
        (-11, 1.0, False, "signal"),
        (1, 1.0, False, "exit"),
    ],
)
def test_an_end_is_the_programs_own_only_with_evidence(code, used, over, reason):
    assert _end_of(code, replace(LIMITS, cpu_seconds=10.0), used, over).reason == reason


# --- a draw for each attempt ---


@pytest.mark.exhaustive
def test_another_file_is_tested_on_other_inputs_and_the_same_file_on_the_same(launcher, template):
    def seeds(digest):
        result, _ = grade_alone(editions.make(NOTEBOOK).student, launcher, template, EXERCISES, sha256=digest)
        return [verdict.seed for verdict in result.verdicts]

    assert seeds("one") == seeds("one") and not set(seeds("one")) & set(seeds("two"))
    again = [planner.hidden_seed(b"s" * 32, "jane", exercise, "one") for exercise in EXERCISES]
    assert seeds("one") == again  # as an instructor can compute it from the record


# --- reasons ---

SIX_MISTAKES = {
    "softmax-rows": answer("softmax-rows")
    .replace("(a, axis=-1", "(a, axis=-2")
    .replace("(powers, axis=-1", "(powers, axis=-2"),
    "scores": answer("scores").replace("/ d_attn**0.5", ""),
    "attention": answer("attention").replace("(weights, v)", "(weights, k)"),
    "causal-mask": answer("causal-mask").replace("j <= i", "j < i"),
    "masked-attention": answer("masked-attention").replace(
        "(mask, scores, MASKED_SCORE)", "(mask, MASKED_SCORE, scores)"
    ),
    "cross-attention": answer("cross-attention").replace("matmul(z, w_q)", "matmul(h, w_q)"),
}


@pytest.mark.slow
def test_six_mistakes_are_six_sentences(graded):
    """Five of the pages' sections were silent at 50562ba: answers on an earlier mistake look like no known one."""
    result, verdicts = graded(solved(SIX_MISTAKES))
    lost = [verdict for verdict in result.verdicts if verdict.points < verdict.max_points]
    assert {verdict.exercise for verdict in lost} == set(SIX_MISTAKES)
    assert all(verdict.advice for verdict in lost)
    assert sum(verdict.misconception is not None for verdict in lost) >= 5


@pytest.mark.slow
def test_an_answer_that_stays_wrong_on_right_foundations_keeps_the_more_detailed_verdict(graded):
    """3.8 is missing at first, since its cell fails on the student's 3.3; on the course's 3.3 its values are wrong."""
    own_test = "assert ops.sum(softmax_rows(ops.ones((1, 2)))) < 1.05\ndef masked_attention"
    _, verdicts = graded(
        solved({
            "softmax-rows": answer("softmax-rows").replace("return ", "return 1.1 * "),
            "attention": answer("attention").replace("(weights, v)", "(weights, k)"),
            "masked-attention": answer("masked-attention").replace("(weights, v)", "(weights, v) * 1.5")
            .replace("def masked_attention", own_test),
            "padding-mask": "def padding_mask(is_real):\n    return ops.expand_dims(is_reel == 1, -2)",
        })
    )  # fmt: skip
    assert verdicts["masked-attention"].status == "wrong"
    assert "the course's own 3.3 softmax_rows in place of yours" in verdicts["masked-attention"].advice[0]
    assert "The shape is right and values differ" in verdicts["masked-attention"].advice[1]
    assert verdicts["attention"].misconception
    assert verdicts["attention"].notes == (STILL_WRONG.format("the course's own 3.3 softmax_rows"),)
    assert "no cell of your notebook defines `is_reel`" in verdicts["padding-mask"].advice[0]


@pytest.mark.exhaustive
def test_every_verdict_that_costs_points_has_a_sentence(graded):
    every = catalogue.of_notebook(NOTEBOOK)
    untouched, _ = graded(editions.make(NOTEBOOK).student, exercises=every)
    odd, verdicts = graded(solved({exercise.id: _odd(exercise) for exercise in every}), exercises=every)
    for verdict in (*untouched.verdicts, *odd.verdicts):
        exercise = catalogue.find(verdict.exercise)
        assert verdict.points < verdict.max_points
        assert verdict.misconception or f"Hint: {exercise.hints[0]}" in verdict.advice, verdict
    assert any("differ" in sentence for verdict in odd.verdicts for sentence in verdict.advice)


def _odd(exercise) -> str:
    """A wrong answer that no known mistake gives."""
    name = exercise.names[0]
    if name[0].isupper():
        return f"class {name}(keras.layers.Layer):\n    def call(self, x, attention_mask=None):\n        return x * 1.7"
    return f"{answer(exercise.id)}\n_{name} = {name}\ndef {name}(*given):\n    return _{name}(*given) * 7 + 3"


# --- known mistakes: workers do not wait for one another, and no worker loads TensorFlow ---

UNSCALED = {"scores": answer("scores").replace("/ d_attn**0.5", "")}


@pytest.fixture(scope="module")
def wrong(launcher, template):
    """A task with one known mistake, and what is known after its run."""
    submission = read_submission(solved(UNSCALED).encode(), template)
    task = plan_task(submission, template, EXERCISES, Result(NAME, "jane", NOTEBOOK), b"s" * 32, LIMITS)
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
