"""Runs a notebook's cells and its hidden questions in sandboxes; verdicts are made outside.

The program is run in the order in which it was handed in: cell by cell, and after the last cell of an answer its
exercise is tested, like in a test cell below it. An exercise that lacked a name is tested again at the end, because an
answer may be above the cells it needs. If a sandbox ends, earned points stay: the cell or exercise that ended it is
named and skipped, and the others continue in a new sandbox. A sandbox that was killed from outside (by a kernel that is
short of memory) is not the student's fault: its step is tried once more, and if that ends in the same way, the record
asks the next `grade` to try again.

All verdicts come from `judge`; no claim of a sandbox about itself gives points.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from autograde.common.errors import SandboxEnded
from autograde.exercises.planning import chained_calls
from autograde.exercises.spec import Exercise
from autograde.grader.grading.budget import Budget, BudgetSpent
from autograde.grader.grading.sentences import how_a_cell_failed, what_was_raised
from autograde.grader.grading.submission import MAX_TRIES, Judged, Outcome, Step, Task, unjudged
from autograde.grader.grading.upstream import STAND_INS_FOLDER, sandbox_files
from autograde.judging.answers import Answer, cell_outcome
from autograde.judging.judge import judge
from autograde.judging.verdict import Verdict
from autograde.sandbox import limits as names
from autograde.sandbox.limits import End

QUESTION_SECONDS = 15.0  # for all questions of one exercise: an honest answer to them takes a fraction of one

# `mybert` comes from the files that `sandbox_files` has put into the working folder.
_PRELUDE = f"""
def _activate():
    import pathlib
    from autograde.boundary import mybert_importer

    here = pathlib.Path.cwd()
    mybert_importer.activate(here, say=lambda line: None, stand_ins=here / "{STAND_INS_FOLDER}")

_activate()
del _activate
"""


@dataclass(frozen=True)
class Stop:
    """The step at which a pass ended early, and how its sandbox ended."""

    step: Step
    end: End


def run_program(task: Task, launcher, budget: Budget) -> Outcome:
    """The verdict on every exercise, as far as the budget reaches."""
    outcome, stop = Outcome(), None
    while not budget.spent_on:
        outcome, stop = _pass(task, outcome, launcher, budget)
        if stop is None or 0 in outcome.ended:  # done, or not even the start is possible
            break
    if 0 in outcome.ended:
        outcome = _without_verdict(task, outcome, f"the program could not be started ({stop.end})")
    return _with_reasons(task, _without_verdict(task, outcome, f"not reached in time: it used up {budget.spent_on}"))


def _pass(task: Task, outcome: Outcome, launcher, budget: Budget) -> tuple[Outcome, Stop | None]:
    """One pass over the steps in a fresh sandbox: what is known after it, and what ended it early."""
    step = Step()
    try:
        with entered(task, launcher, task.upstream, budget) as sandbox:
            for step in task.steps:
                if step.exercise is None:
                    outcome = run_cell(task, outcome, sandbox, step)
                elif step.exercise.id not in outcome.judged:
                    outcome = _asked(task, outcome, sandbox, step.exercise)
            for step in task.steps:
                if step.exercise and step.exercise.id not in outcome.asked_twice and _lacked_a_name(outcome, step):
                    outcome = replace(outcome, asked_twice=outcome.asked_twice | {step.exercise.id})
                    outcome = _asked(task, outcome, sandbox, step.exercise)
    except BudgetSpent:
        return outcome, None
    except SandboxEnded as ended:
        stop = Stop(step, ended.reason)
        return (outcome if budget.spent_on else blamed(task, outcome, stop)), stop
    return outcome, None


@contextmanager
def entered(task: Task, launcher, upstream: dict[str, str], budget: Budget) -> Iterator:
    """A sandbox in which a notebook's cells can run, with these modules of the student, otherwise the library's."""
    with budget.sandbox(launcher, task.limits) as sandbox:
        sandbox.put(sandbox_files(task.notebook, upstream))
        sandbox.run_cell(_PRELUDE)
        yield sandbox


# --- cells ---


def run_cell(task: Task, outcome: Outcome, sandbox, step: Step) -> Outcome:
    """Runs a cell and notes how it failed. Raises SandboxEnded."""
    if step.number in outcome.ended | outcome.late:
        return outcome
    result = cell_outcome(sandbox.run_cell(step.source, task.limits.cell_seconds), step.source)
    if result.status == "late":
        outcome = replace(outcome, late=outcome.late | {step.number})
        return outcome.with_error(step.number, f"it did not end within {task.limits.cell_seconds:g} seconds")
    if result.status == "failed":
        return outcome.with_error(step.number, how_a_cell_failed(step.source, result, task.submission.program))
    return outcome


# --- questions ---


def ask(task: Task, sandbox, exercise: Exercise, composed: bool = True) -> Judged:
    """The verdict on one exercise in a sandbox as it is now. Raises SandboxEnded.

    composed: also with the questions in which it meets other answers.
    """
    answers: list[Answer] = []
    plan = task.plans[exercise.id] if composed else chained_calls.without(task.plans[exercise.id])

    def ask_sandbox(questions):
        given = sandbox.ask(questions, QUESTION_SECONDS)
        answers.extend(given)
        return given

    verdict = judge(plan, ask_sandbox, task.source_of(exercise), reveal=False)
    return Judged(with_errors(task, exercise, verdict, answers), tuple(answers))


def with_errors(task: Task, exercise: Exercise, verdict: Verdict, answers: Sequence[Answer]) -> Verdict:
    """The verdict with what an answer raised, or that there was none in time."""
    if verdict.status == "raised":
        return verdict.with_advice(
            what_was_raised(answers, task.source_of(exercise), QUESTION_SECONDS, task.submission.program)
        )
    if not verdict.passed and any(answer.late for answer in answers):
        return verdict.with_advice(f"To a question it had given no answer after {QUESTION_SECONDS:g} seconds.")
    return verdict


def _asked(task: Task, outcome: Outcome, sandbox, exercise: Exercise) -> Outcome:
    """Keeps the verdict if it is the first or a better one."""
    now, before = ask(task, sandbox, exercise), outcome.judged.get(exercise.id)
    better = before is None or now.verdict.points > before.verdict.points
    return outcome.with_judged(exercise, now) if better else outcome


def _lacked_a_name(outcome: Outcome, step: Step) -> bool:
    """Whether a name was missing: an answer may be above the cells that it, or a composition, needs."""
    known = outcome.judged.get(step.exercise.id)
    if known is None or known.verdict.status == "missing":
        return known is not None
    if known.verdict.passed:
        return False
    return any(_is_about_a_name(answer) for answer in known.answers)


def _is_about_a_name(answer: Answer) -> bool:
    return answer.status == "missing" or (answer.failure is not None and answer.failure.kind == "NameError")


# --- ends ---


def blamed(task: Task, outcome: Outcome, stop: Stop) -> Outcome:
    """Records what ended a sandbox: that step is skipped from now on, unless it was killed from outside and is tried
    once more."""
    from_outside = stop.end.reason in names.FROM_OUTSIDE
    if from_outside and stop.step.key not in outcome.spared:
        return replace(outcome, spared=outcome.spared | {stop.step.key})
    outcome = replace(outcome, again=outcome.again or from_outside)
    reason = f"{stop.end}; `autograde grade` tries again, {MAX_TRIES} times in all" if from_outside else str(stop.end)
    step = stop.step
    if step.exercise is None:
        outcome = outcome.with_technical(f"cell {step.number} ended the program ({reason})" if step.number else reason)
        outcome = replace(outcome, ended=outcome.ended | {step.number})
        return outcome.with_error(step.number, f"it ended the whole program ({reason})")
    sentence = f"calling {step.exercise.names[0]} ended the program ({reason})"
    outcome = outcome.with_technical(sentence)
    if step.exercise.id in outcome.judged:
        return outcome
    return outcome.with_verdict(step.exercise, unjudged(step.exercise, task.plans[step.exercise.id], sentence))


def _without_verdict(task: Task, outcome: Outcome, reason: str) -> Outcome:
    """A verdict with this reason for each exercise that has none."""
    for exercise in task.exercises:
        if exercise.id not in outcome.judged:
            verdict = unjudged(exercise, task.plans[exercise.id], reason)
            outcome = outcome.with_verdict(exercise, verdict)
            outcome = outcome if reason in outcome.technical else outcome.with_technical(reason)
    return outcome


def _with_reasons(task: Task, outcome: Outcome) -> Outcome:
    """Adds the reason why a name is missing: the cell that defines it failed."""
    for exercise in task.exercises:
        verdict = outcome.verdict(exercise)
        failed = next((number for number in task.numbers_of(exercise) if number in outcome.errors), None)
        if verdict.status == "missing" and failed is not None:
            outcome = outcome.with_verdict(exercise, _with_reason(verdict, failed, outcome))
    return outcome


def _with_reason(verdict: Verdict, failed: int, outcome: Outcome) -> Verdict:
    sentence = f"Cell {failed} failed: {outcome.errors[failed]}."
    if failed in outcome.ended:
        verdict = replace(verdict, status="technical", technical=sentence, advice=())
    return verdict.with_advice(sentence)
