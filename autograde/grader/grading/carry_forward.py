"""Carries errors forward: a mistake costs points only once, because later exercises are tested again on right answers.

After the first run, the notebook is run once more in a second sandbox, and each failed exercise is tested again there.
The exercises are taken in the *release's* order, also where the student's cells have another one:

    for each exercise: run the student's cells down to its last ─▶ test it, if it failed ─▶ run the course's solution

So an exercise is tested beside the solutions of the exercises before it in the release and no others. No solution uses
a later exercise (a test proves it), so none of those contains the tested one. Cells that ran before a solution that
came late run again. The student's answers to earlier notebooks (`mybert`, see upstream.py) are not in that sandbox; the
library's versions are used instead. The better of the two verdicts counts; of two
with the same points, the more specific one.

The program there could read the solutions of exercises that it is no longer tested on. Therefore no text from this
sandbox is shown to anybody: only points, and which known mistake or kind of difference the answers show.
"""

from dataclasses import replace

from autograde.boundary.mybert_importer import PACKAGE
from autograde.common.dependencies import cells_for, read_cell
from autograde.common.errors import SandboxEnded
from autograde.exercises import cells
from autograde.exercises.planning import chained_calls
from autograde.exercises.spec import Exercise
from autograde.grader.grading.budget import MAX_SANDBOXES, Budget, BudgetSpent
from autograde.grader.grading.run_cells import ask, entered, run_cell, with_errors
from autograde.grader.grading.submission import Judged, Outcome, Step, Task
from autograde.grader.reading.source import defined_names
from autograde.judging.judge import judge
from autograde.judging.verdict import Verdict
from autograde.sandbox import limits as names

_WORTH_ASKING = ("wrong", "partly", "raised", "missing", "technical")
_TELLS = {"missing": 0, "technical": 0, "raised": 1, "wrong": 2}  # the more specific of verdicts without points
_TELLS_OF_THE_ANSWER = ("wrong", "partly", "raised")
STILL_WRONG = "It was tested with {} in place of yours too, and was still wrong: it has a mistake of its own."
NOT_REACHED = "It was not tested again on the course's own answers to the exercises before it: not reached in time."


def carry_forward(task: Task, outcome: Outcome, launcher, budget: Budget) -> Outcome:
    """Better verdicts where an answer is right on right ones. An exercise that ends a sandbox here keeps its own."""
    if own_modules_used(task):  # what ended or held up the program may have been in the student's own package
        outcome = replace(outcome, ended=frozenset(), late=frozenset())
    while _candidates(task, outcome) and not budget.spent_on:
        outcome = _pass(task, outcome, launcher, budget)
    for exercise in _candidates(task, outcome):
        outcome = outcome.with_verdict(exercise, outcome.verdict(exercise).with_advice(NOT_REACHED))
    return outcome if budget.started >= MAX_SANDBOXES else _judged_alone(task, outcome)  # its own ends used them up


def _judged_alone(task: Task, outcome: Outcome) -> Outcome:
    """The verdict without compositions on each failed exercise that could not be tested again on right answers: in a
    composition it may have failed for another one."""
    for exercise in task.exercises:
        judged, plan = outcome.judged[exercise.id], task.plans[exercise.id]
        tested_again = _was_tested_again(task, outcome, exercise)
        if judged.verdict.passed or tested_again or not chained_calls.meets_others(plan):
            continue
        alone = chained_calls.without(plan)
        given = judged.answers[: len(alone["questions"])]
        if len(given) != len(alone["questions"]):
            continue
        verdict = judge(alone, lambda questions, given=given: given, task.source_of(exercise), reveal=False)
        if verdict.points > judged.verdict.points:
            verdict = with_errors(task, exercise, verdict, given)
            if NOT_REACHED in judged.verdict.advice and not verdict.passed:
                verdict = verdict.with_advice(NOT_REACHED)
            outcome = outcome.with_judged(exercise, Judged(verdict, given))
    return outcome


def _was_tested_again(task: Task, outcome: Outcome, exercise: Exercise) -> bool:
    """Whether it was asked on the course's answers, or ended the sandbox there, by its own cell or when it was asked: a
    program may end where it sees that its own answers were replaced."""
    return exercise.id in outcome.on_course or bool(outcome.ended & set(task.numbers_of(exercise)))


def own_modules_used(task: Task) -> list[str]:
    """The student's own modules that this notebook can have used."""
    mentioned = any(PACKAGE in step.source for step in task.steps)
    return [f"{PACKAGE}.{module}" for module in task.upstream] if mentioned else []


def _candidates(task: Task, outcome: Outcome) -> list[Exercise]:
    """The exercises to be tested again; the first one only if something of the student's is replaced for it."""
    possible = task.exercises if own_modules_used(task) else task.exercises[1:]
    return [exercise for exercise in possible if _worth_retrying(task, outcome, exercise)]


def _worth_retrying(task: Task, outcome: Outcome, exercise: Exercise) -> bool:
    """Whether its own cell ran at all and holds an attempt, and it was not tested again yet."""
    answer = task.submission.answers.get(exercise.id)
    if not answer or not answer.attempted or outcome.ended & set(task.numbers_of(exercise)):
        return False
    return exercise.id not in outcome.on_course and outcome.verdict(exercise).status in _WORTH_ASKING


def _pass(task: Task, outcome: Outcome, launcher, budget: Budget) -> Outcome:
    """One pass in a fresh sandbox: what is known after it. The step that ended it is skipped from then on."""
    step = Step()
    candidates = {exercise.id for exercise in _candidates(task, outcome)}
    last = max(index for index, exercise in enumerate(task.exercises) if exercise.id in candidates)
    try:
        with entered(task, launcher, {}, budget) as sandbox:
            stand = _Stand(task)
            for exercise in task.exercises[: last + 1]:
                for step in stand.cells_before(exercise):
                    outcome = run_cell(task, outcome, sandbox, step)
                if exercise.id in candidates:
                    for step in stand.cells_again(exercise):
                        outcome = run_cell(task, outcome, sandbox, step)
                    stand.restore(exercise, sandbox)
                    step = Step(exercise=exercise)
                    outcome = replace(outcome, on_course=outcome.on_course | {exercise.id})
                    outcome = _asked_again(task, outcome, sandbox, exercise)
                stand.solve(exercise, sandbox)
    except BudgetSpent:
        return outcome
    except SandboxEnded as ended:
        return outcome if budget.spent_on else _blamed(outcome, step, ended.reason)
    return outcome


class _Stand:
    """The progress of one pass: which of the student's cells have run, and on which of the course's solutions."""

    def __init__(self, task: Task):
        self.task, self.done = task, 0  # steps of the student's program
        self.solved: list[Exercise] = []
        self.solved_at: dict[int, int] = {}  # number of a cell → how many solutions were there when it ran

    def cells_before(self, exercise: Exercise) -> list[Step]:
        """The cells down to the last one of this exercise that have not run yet."""
        steps = self.task.steps
        end = next(index for index, step in enumerate(steps) if step.exercise is exercise)
        new = [step for step in steps[self.done : end] if step.exercise is None]
        self.done = max(self.done, end)
        self.solved_at |= {step.number: len(self.solved) for step in new}
        return new

    def cells_again(self, exercise: Exercise) -> list[Step]:
        """The exercise's own cells, if one of them ran before a solution that is there now (cells in another order)."""
        own = [step for step in self.task.steps if step.number in self.task.numbers_of(exercise)]
        return own if any(self.solved_at[step.number] < len(self.solved) for step in own) else []

    def restore(self, exercise: Exercise, sandbox) -> None:
        """Solutions again whose names the exercise's own cells define too (several answers in one cell)."""
        defined = defined_names(self.task.source_of(exercise))
        for other in self.solved:
            if defined & set(other.names):
                self._run(other, sandbox)

    def solve(self, exercise: Exercise, sandbox) -> None:
        """Puts the course's solution in the place of the student's answer."""
        self._run(exercise, sandbox)
        self.solved.append(exercise)

    def _run(self, exercise: Exercise, sandbox) -> None:
        sandbox.run_cell(cells.answer_cell(exercise), self.task.limits.cell_seconds)


def _blamed(outcome: Outcome, step: Step, end) -> Outcome:
    """The end's name only: a program that may have read solutions must not choose the words."""
    if end.reason in names.FROM_OUTSIDE and ("again", step.key) not in outcome.spared:
        spared = outcome.spared | {("again", step.key)}
        on_course = outcome.on_course - {step.key}
        return replace(outcome, spared=spared, on_course=on_course)
    outcome = replace(outcome, again=outcome.again or end.reason in names.FROM_OUTSIDE)
    outcome = outcome.with_technical(f"while testing again on right answers: {end.reason}")
    return outcome if step.exercise else replace(outcome, ended=outcome.ended | {step.number})


def _asked_again(task: Task, outcome: Outcome, sandbox, exercise: Exercise) -> Outcome:
    before, now = outcome.judged[exercise.id], ask(task, sandbox, exercise)
    earlier = task.exercises[: task.exercises.index(exercise)]
    failed = [other for other in earlier if not outcome.verdict(other).passed]
    used, own_modules = _used(task, exercise, failed), own_modules_used(task)
    replaced = _what_was_replaced(used or failed, own_modules)
    if not _is_better(now.verdict, before.verdict):
        verdict = before.verdict
        if (used or own_modules) and now.verdict.status in _TELLS_OF_THE_ANSWER:
            verdict = replace(verdict, notes=(*verdict.notes, STILL_WRONG.format(replaced)))
        return outcome.with_judged(exercise, replace(before, verdict=verdict, on_course=now.answers))
    sentence = f"Graded with {replaced} in place of yours: a mistake there costs points only there."
    said = {"advice": (), "notes": (sentence,)} if now.verdict.passed else {"advice": (sentence,), "notes": ()}
    verdict = replace(now.verdict, **said)
    outcome = outcome.with_judged(exercise, Judged(verdict, now.answers, credited=sentence))
    if failed or own_modules or not now.verdict.passed:
        return outcome
    return replace(outcome, untested=(*outcome.untested, _missing_test(task, exercise, earlier)))


def _is_better(now: Verdict, before: Verdict) -> bool:
    """More points, or as many and more specific: a wrong value is more specific than an error."""
    if now.points != before.points:
        return now.points > before.points
    return _TELLS.get(now.status, 0) > _TELLS.get(before.status, 2)


def _used(task: Task, exercise: Exercise, others: list[Exercise]) -> list[Exercise]:
    """Those of the other exercises that this one's answer uses, as far as its text shows it, or meets in a question."""
    program = [read_cell(cell.source) for cell in task.submission.program]
    used = cells_for(set(exercise.names), program).cells
    names = set().union(*(cell.defines for cell in used)) if used else set()
    names |= chained_calls.names_in(task.plans[exercise.id])
    return [other for other in others if names & set(other.names)]


def _missing_test(task: Task, exercise: Exercise, earlier: tuple[Exercise, ...]) -> str:
    """The student's own answers passed, and yet the exercise is right only on the course's: a test lets a mistake
    pass, most likely one of an answer that this one uses."""
    suspects = _used(task, exercise, list(earlier)) or earlier
    named = ", ".join(f"{other.number} {other.names[0]}" for other in suspects)
    return (
        f"{exercise.number} {exercise.names[0]} is right on the course's answers and not on the student's own, which "
        f"all passed: look for a missing test of {named}"
    )


def _what_was_replaced(failed: list[Exercise], replaced: list[str]) -> str:
    names = ", ".join(f"{other.number} {other.names[0]}" for other in failed)
    if not names and not replaced:
        names = "answers to the exercises before it"
    course = f"the course's own {names}" if names else ""
    library = f"the library's stand-ins for {', '.join(replaced)}" if replaced else ""
    return " and ".join(filter(None, (course, library)))
