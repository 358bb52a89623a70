"""Runs a notebook's cells and its hidden questions in sandboxes; verdicts are made outside.

`run_steps` is the only place where a sandbox is used: all runs differ in their lists of steps alone. In the first run
the program's cells come in the order in which they were handed in, and after the last cell of an answer its exercise
is tested, like in a test cell below it. An exercise that lacked a name is tested again at the end, because an answer
may be above the cells it needs. If a sandbox ends, earned points stay: the cell or exercise that ended it is named and
skipped, and the others continue in a new one. If it was killed from outside (by a kernel that is short of memory), the
step is tried once more, and then by the next `grade`.

All verdicts come from `judge`; no claim of a sandbox about itself gives points.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from autograde.common.errors import SandboxEnded
from autograde.exercises import ready_made
from autograde.exercises.planning import chained_calls
from autograde.exercises.spec import Exercise
from autograde.grader.grading.budget import Budget, BudgetSpent
from autograde.grader.grading.sentences import how_a_cell_failed, what_was_raised
from autograde.grader.grading.submission import MAX_TRIES, Judged, Outcome, Questions, Step, Task, unjudged
from autograde.grader.grading.upstream import STAND_INS_FOLDER, sandbox_files, stand_ins_of
from autograde.judging.answers import Answer, cell_outcome
from autograde.judging.judge import judge
from autograde.judging.verdict import Verdict
from autograde.sandbox import limits as names
from autograde.sandbox.limits import End

QUESTION_SECONDS = 15.0  # for all questions of one exercise: an honest answer to them takes a fraction of one
AGAIN = "at the end"  # `Step.when` of an exercise that is asked once more in the first run

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

Keep = Callable[[Task, Outcome, Exercise, Judged], Outcome]  # what is known with one more verdict on an exercise


@dataclass(frozen=True)
class Stop:
    """The end of a run before its last step, at or after this step of the student's. end: how its sandbox ended; None
    where no time was left for another one."""

    step: Step
    end: End | None

    @property
    def from_outside(self) -> bool:
        return self.end is not None and self.end.reason in names.FROM_OUTSIDE


def run_program(task: Task, launcher, budget: Budget) -> Outcome:
    """The verdict on every exercise, as far as the budget reaches."""
    outcome, stop = Outcome(), None
    while not budget.spent_on:
        steps = [step for step in task.steps if step.exercise is None or step.exercise.id not in outcome.judged]
        outcome, stop = run_steps(
            task, outcome, steps, launcher, budget, task.upstream, keep=_if_better, at_the_end=_lacking_a_name
        )
        if stop is None or budget.spent_on:
            break
        outcome = _blamed(task, outcome, stop)
        if 0 in outcome.ended:  # not even the start is possible
            outcome = _without_verdict(task, outcome, f"the program could not be started ({stop.end})")
            break
    outcome = _without_verdict(task, outcome, f"not reached in time: it used up {budget.spent_on}")
    for exercise in task.exercises:
        verdict = outcome.verdict(exercise)
        failed = next((number for number in task.numbers_of(exercise) if number in outcome.errors), None)
        if verdict.status == "missing" and failed is not None:  # the reason: the cell that defines it failed
            sentence = f"Cell {failed} failed: {outcome.errors[failed]}."
            if failed in outcome.ended:
                verdict = replace(verdict, status="technical", technical=sentence, advice=())
            outcome = outcome.with_verdict(exercise, verdict.with_advice(sentence))
    return outcome


def run_steps(
    task: Task, outcome: Outcome, steps: Iterable[Step | Questions], launcher, budget: Budget,
    upstream: Mapping[str, str], keep: Keep | None = None,
    at_the_end: Callable[[Task, Outcome], list[Step]] = lambda task, outcome: [],
    forbidden: Sequence[str] | None = None,
) -> tuple[Outcome, Stop | None]:  # fmt: skip
    """Takes steps in a fresh sandbox, one after the other: what is known then, and where it ended early, if it did.

    upstream: the student's own modules in it; the others are the library's. keep: takes the verdicts on exercises;
    at_the_end: further steps, when all others are done; forbidden: names of functions and modules that are inert.
    """
    last = Step()
    covered = () if forbidden is None else ready_made.EVERYWHERE  # modules whose files nobody can read
    limits = replace(task.limits, covered=covered)

    def all_steps():
        yield from steps
        yield from at_the_end(task, outcome)  # by what is known then

    try:
        with budget.sandbox(launcher, limits) as sandbox:
            sandbox.put(sandbox_files(task.notebook, upstream))
            sandbox.run_cell(_PRELUDE)
            if forbidden is not None:
                sandbox.forbid(list(forbidden), list(stand_ins_of(task.notebook)))
            for step in all_steps():
                if isinstance(step, Questions):
                    step.answers = sandbox.ask(step.questions, step.seconds)
                    continue
                last = step if step.is_the_students else last
                if step.exercise is None:
                    outcome = _run_cell(task, outcome, sandbox, step)
                else:
                    if step.when:
                        outcome = replace(outcome, asked=outcome.asked | {(step.exercise.id, step.when)})
                    outcome = keep(task, outcome, step.exercise, _ask(task, sandbox, step))
    except BudgetSpent:
        return outcome, Stop(last, None)
    except SandboxEnded as ended:
        return outcome, Stop(last, ended.reason)
    return outcome, None


def _run_cell(task: Task, outcome: Outcome, sandbox, step: Step) -> Outcome:
    """Runs a cell; of a student's cell notes how it failed. Raises SandboxEnded."""
    if step.is_the_students and step.number in outcome.ended | outcome.late:
        return outcome
    result = cell_outcome(sandbox.run_cell(step.cell.source, task.limits.cell_seconds), step.cell.source)
    if not step.is_the_students or result.status == "ok":
        return outcome
    if result.status == "late":
        outcome = replace(outcome, late=outcome.late | {step.number})
        return outcome.with_error(step.number, f"it did not end within {task.limits.cell_seconds:g} seconds")
    return outcome.with_error(step.number, how_a_cell_failed(step.cell, result, task.cells))


def _ask(task: Task, sandbox, step: Step) -> Judged:
    """The verdict on one exercise in a sandbox as it is now. Raises SandboxEnded."""
    answers: list[Answer] = []
    plan = task.plans[step.exercise.id]

    def ask_sandbox(questions):
        answers.extend(sandbox.ask(questions, QUESTION_SECONDS))
        return answers

    source = task.answer_to(step.exercise).source
    verdict = judge(chained_calls.without(plan) if step.alone else plan, ask_sandbox, source, reveal=False)
    return Judged(with_errors(task, step.exercise, verdict, answers), tuple(answers))


def with_errors(task: Task, exercise: Exercise, verdict: Verdict, answers: Sequence[Answer]) -> Verdict:
    """The verdict with what an answer raised, or that there was none in time."""
    if verdict.status == "raised":
        return verdict.with_advice(what_was_raised(answers, task.answer_to(exercise), QUESTION_SECONDS, task.cells))
    if not verdict.passed and any(answer.late for answer in answers):
        return verdict.with_advice(f"To a question it had given no answer after {QUESTION_SECONDS:g} seconds.")
    return verdict


def _if_better(task: Task, outcome: Outcome, exercise: Exercise, now: Judged) -> Outcome:
    before = outcome.judged.get(exercise.id)
    better = before is None or now.verdict.points > before.verdict.points
    return outcome.with_judged(exercise, now) if better else outcome


def _lacking_a_name(task: Task, outcome: Outcome) -> list[Step]:
    """The exercises that lacked a name: an answer may be above the cells that it, or a composition, needs."""
    steps = []
    for exercise in (step.exercise for step in task.steps if step.exercise):
        judged = outcome.judged.get(exercise.id)
        if judged is None or judged.verdict.passed or outcome.was_asked(exercise, AGAIN):
            continue
        failures = [answer.failure for answer in judged.answers if answer.failure]
        lacking = any(answer.status == "missing" for answer in judged.answers)
        if judged.verdict.status == "missing" or lacking or any(failure.kind == "NameError" for failure in failures):
            steps.append(Step(exercise=exercise, when=AGAIN))
    return steps


def _blamed(task: Task, outcome: Outcome, stop: Stop) -> Outcome:
    """Records what ended a sandbox: that step is skipped from now on; once killed from outside, it is tried again."""
    step = stop.step
    if stop.from_outside and step.key not in outcome.spared:
        return replace(outcome, spared=outcome.spared | {step.key})
    outcome = replace(outcome, again=outcome.again or stop.from_outside)
    tries = f"{stop.end}; `autograde grade` tries again, {MAX_TRIES} times in all"
    reason = tries if stop.from_outside else str(stop.end)
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
