"""Tests whether an answer needs what its exercise forbids: a second sandbox, in which that does nothing, decides.

Here all that an exercise forbids is inert before the first cell runs (`autograde.sandbox.forbidding`), and what an
answer earns in addition elsewhere does not count. Every answer with points is tested a second time:

    all that any exercise of the notebook forbids is inert ─▶ answers that keep their points are done
    for the others: only what their own exercise forbids is inert ─▶ the lower result counts

Exercises that forbid the same share a sandbox. An answer that was graded on the course's own answers to the exercises
before it has a sandbox for itself: those answers are put into it, and no other exercise may be tested beside its own.
"""

from dataclasses import replace
from itertools import pairwise

from autograde.common.dependencies import ParsedCell
from autograde.exercises.planning import chained_calls
from autograde.exercises.spec import Exercise
from autograde.grader.grading.budget import Budget
from autograde.grader.grading.carry_forward import course_step
from autograde.grader.grading.run_cells import Stop, run_steps
from autograde.grader.grading.submission import Judged, Outcome, Step, Task, unjudged
from autograde.grader.reading.source import without_commands


def without_forbidden(task: Task, outcome: Outcome, launcher, budget: Budget) -> Outcome:
    """The outcome with the points that each answer earns without what its exercise forbids."""
    earning = [exercise for exercise in task.exercises if outcome.verdict(exercise).points]
    alone = [exercise for exercise in earning if outcome.judged[exercise.id].credited]
    together = [exercise for exercise in earning if exercise not in alone]
    everything = tuple(dict.fromkeys(name for exercise in together for name in exercise.forbidden.names))
    if together and len({exercise.forbidden.names for exercise in together}) > 1:
        judged, _ = _asked_without(task, outcome, everything, together, launcher, budget)
        together = [exercise for exercise in together if not _keeps_its_points(outcome, exercise, judged)]
    groups: dict[tuple[str, ...], list[Exercise]] = {}
    for exercise in together:
        groups.setdefault(exercise.forbidden.names, []).append(exercise)
    for exercises in [*groups.values(), *([exercise] for exercise in alone)]:
        judged, stop = _asked_without(task, outcome, exercises[0].forbidden.names, exercises, launcher, budget)
        outcome = replace(outcome, again=outcome.again or bool(stop and stop.from_outside))
        for exercise in exercises:
            outcome = _lowered(task, outcome, exercise, judged.get(exercise.id), stop)
    return outcome


def _keeps_its_points(outcome: Outcome, exercise: Exercise, judged: dict[str, Judged]) -> bool:
    now = judged.get(exercise.id)
    return now is not None and now.verdict.points >= outcome.verdict(exercise).points


def _asked_without(
    task: Task, outcome: Outcome, names: tuple[str, ...], exercises: list[Exercise], launcher, budget: Budget
) -> tuple[dict[str, Judged], Stop | None]:
    """One run without these names: its verdicts by exercise, and where it ended early."""
    wanted, judged = {exercise.id for exercise in exercises}, {}

    def steps():
        for step in task.steps:
            if step.exercise is None:
                yield from _by_statements(outcome, step)
            elif step.exercise.id in wanted:
                yield from _steps_to_ask(task, outcome, step.exercise)
        for exercise in exercises:  # once more: an answer may be above the cells it needs
            if not _keeps_its_points(outcome, exercise, judged):
                yield from _steps_to_ask(task, outcome, exercise)

    def keep(task, outcome, exercise, now):
        judged[exercise.id] = now
        return outcome

    upstream = {} if any(outcome.judged[identity].credited for identity in wanted) else task.upstream
    _, stop = run_steps(task, outcome, steps(), launcher, budget, upstream, keep=keep, forbidden=names)
    if stop:
        return {identity: now for identity, now in judged.items() if now.verdict.passed}, stop
    return judged, None


def _steps_to_ask(task: Task, outcome: Outcome, exercise: Exercise) -> list[Step]:
    """An answer that was graded on the course's own answers before it gets them here, too, as in carry_forward.py."""
    steps = []
    if outcome.judged[exercise.id].credited:
        before = task.exercises[: task.exercises.index(exercise)]
        defined = task.answer_to(exercise).declares
        again = [earlier for earlier in before if defined & set(earlier.names)]  # several answers in one cell
        steps += map(course_step, before)
        for step in task.steps:
            if step.number in task.numbers_of(exercise):
                steps += _by_statements(outcome, step)
        steps += map(course_step, again)
    alone = chained_calls.meets_others(task.plans[exercise.id])  # another answer may be one that uses what is forbidden
    return [*steps, Step(exercise=exercise, alone=alone)]


def _by_statements(outcome: Outcome, step: Step) -> list[Step]:
    """A cell as a step for each top-level statement, so that one stops no other; those of one line stay together."""
    if step.number in outcome.ended | outcome.late:
        return []
    cell = without_commands(step.cell)[0]
    lines = cell.source.split("\n")
    starts = {
        min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])
        for node in (cell.tree.body if cell.tree else ())
    }
    texts = ("\n".join(lines[start - 1 : end - 1]) for start, end in pairwise([1, *sorted(starts), len(lines) + 1]))
    return [Step(cell=ParsedCell(text)) for text in texts if text.strip()]


def _lowered(task: Task, outcome: Outcome, exercise: Exercise, now: Judged | None, stop: Stop | None) -> Outcome:
    """An answer that the sandbox did not get to counts for nothing, and the instructor sees why."""
    if now is None:
        end = stop.end or "its time was used up"
        reason = f"without what this exercise forbids, its program did not end well ({end})"
        outcome = outcome.with_technical(f"{exercise.names[0]}: {reason}")
        return outcome.with_verdict(exercise, unjudged(exercise, task.plans[exercise.id], reason))
    if now.verdict.points >= outcome.verdict(exercise).points:
        return outcome
    names = ", ".join(f"`{name}`" for name in exercise.forbidden.names[:4])
    more = " and others" if len(exercise.forbidden.names) > 4 else ""
    sentence = f"In a program without {names}{more} your answer earns fewer points. {exercise.forbidden.because}"
    status = "partly" if now.verdict.points else "refused"
    return outcome.with_judged(exercise, replace(now, verdict=replace(now.verdict, status=status, advice=(sentence,))))
