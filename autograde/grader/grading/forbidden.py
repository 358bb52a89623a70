"""Tests whether an answer needs what its exercise forbids: a second sandbox, in which that does nothing, decides.

In the first sandbox a program can reach everything that later exercises may use. Here all that an exercise forbids is
inert before the first cell runs (`autograde.sandbox.forbidding`), and what an answer earns in addition elsewhere does
not count. Every answer with points is tested a second time:

    all that any exercise of the notebook forbids is inert ─▶ answers that keep their points are done
    for the others: only what their own exercise forbids is inert ─▶ the lower result counts

Exercises that forbid the same share a sandbox. An answer that was graded on the course's own answers to the exercises
before it has a sandbox for itself: those answers are put into it, and no other exercise may be tested beside its own.
"""

import ast
import re
from dataclasses import replace
from itertools import pairwise

from autograde.boundary import mybert_importer
from autograde.common import syntax
from autograde.common.caches import cached
from autograde.common.errors import SandboxEnded
from autograde.exercises import catalogue, cells, notebooks
from autograde.exercises.planning import chained_calls
from autograde.exercises.spec import Exercise
from autograde.grader.grading.budget import Budget, BudgetSpent
from autograde.grader.grading.run_cells import ask, entered
from autograde.grader.grading.submission import Judged, Outcome, Step, Task, unjudged
from autograde.grader.grading.upstream import modules_before
from autograde.grader.reading.source import defined_names, without_commands
from autograde.judging.verdict import Verdict
from autograde.sandbox import limits as names_of_ends

_MENTIONED = re.compile(rf"\b{mybert_importer.PACKAGE}\.(\w+)")


def without_forbidden(task: Task, outcome: Outcome, launcher, budget: Budget) -> Outcome:
    """The outcome with the points that each answer earns without what its exercise forbids."""
    earning = [exercise for exercise in task.exercises if outcome.verdict(exercise).points]
    alone = [exercise for exercise in earning if outcome.judged[exercise.id].credited]
    together = [exercise for exercise in earning if exercise not in alone]
    everything = tuple(dict.fromkeys(name for exercise in together for name in exercise.forbidden.names))
    if together and len({exercise.forbidden.names for exercise in together}) > 1:
        found, _ = _asked_without(task, outcome, everything, together, launcher, budget)
        together = [exercise for exercise in together if not _keeps_its_points(outcome, exercise, found)]
    for exercises in [*_groups(together), *([exercise] for exercise in alone)]:
        names = exercises[0].forbidden.names
        found, ended = _asked_without(task, outcome, names, exercises, launcher, budget)
        outcome = replace(outcome, again=outcome.again or _is_from_outside(ended))
        for exercise in exercises:
            outcome = _lowered(task, outcome, exercise, found.get(exercise.id), ended)
    return outcome


def _groups(exercises: list[Exercise]) -> list[list[Exercise]]:
    """The exercises that forbid the same, together."""
    found: dict[tuple[str, ...], list[Exercise]] = {}
    for exercise in exercises:
        found.setdefault(exercise.forbidden.names, []).append(exercise)
    return list(found.values())


def _keeps_its_points(outcome: Outcome, exercise: Exercise, found: dict[str, Judged]) -> bool:
    now = found.get(exercise.id)
    return now is not None and now.verdict.points >= outcome.verdict(exercise).points


def _asked_without(
    task, outcome, names, exercises, launcher, budget
) -> tuple[dict[str, Judged], SandboxEnded | BudgetSpent | None]:
    """One pass without these names: what it found of each exercise, and what ended it early."""
    wanted = {exercise.id for exercise in exercises}
    found: dict[str, Judged] = {}
    upstream = {} if any(outcome.judged[identity].credited for identity in wanted) else task.upstream
    try:
        with entered(task, launcher, upstream, budget) as sandbox:
            sandbox.forbid(list(names), list(stand_ins_of(task.notebook)))
            for step in task.steps:
                if step.exercise is None:
                    _run_by_statements(task, outcome, sandbox, step)
                elif step.exercise.id in wanted:
                    found[step.exercise.id] = _asked(task, outcome, step.exercise, sandbox)
            for exercise in exercises:  # an answer may be above the cells it needs
                if not _keeps_its_points(outcome, exercise, found):
                    found[exercise.id] = _asked(task, outcome, exercise, sandbox)
    except (SandboxEnded, BudgetSpent) as ended:
        return {identity: now for identity, now in found.items() if now.verdict.passed}, ended
    return found, None


def _lowered(task: Task, outcome: Outcome, exercise: Exercise, now: Judged | None, ended) -> Outcome:
    """An answer that the sandbox did not get to counts for nothing, and the instructor sees why."""
    if now is None:
        reason = f"without what this exercise forbids, its program did not end well ({_end(ended)})"
        outcome = outcome.with_technical(f"{exercise.names[0]}: {reason}")
        return outcome.with_verdict(exercise, unjudged(exercise, task.plans[exercise.id], reason))
    if now.verdict.points >= outcome.verdict(exercise).points:
        return outcome
    return outcome.with_judged(exercise, replace(now, verdict=_refused(exercise, now)))


def _is_from_outside(ended: Exception | None) -> bool:
    return isinstance(ended, SandboxEnded) and ended.reason.reason in names_of_ends.FROM_OUTSIDE


def _end(ended: Exception) -> str:
    return str(ended) if isinstance(ended, SandboxEnded) else "its time was used up"


def _run_by_statements(task: Task, outcome: Outcome, sandbox, step: Step) -> None:
    """Runs a cell statement by statement: one that uses what is forbidden stops no other."""
    if step.number in outcome.ended | outcome.late:
        return
    for source in _statements(without_commands(step.source)[0]):
        sandbox.run_cell(source, task.limits.cell_seconds)


def _statements(source: str) -> list[str]:
    """The top-level statements of a program; those that share a line stay together."""
    tree, lines = syntax.parsed(source), source.split("\n")
    starts = [1, *sorted({_first_line(node) for node in tree.body}), len(lines) + 1] if tree else [1, len(lines) + 1]
    parts = ["\n".join(lines[start - 1 : end - 1]) for start, end in pairwise(starts)]
    return [part for part in parts if part.strip()]


def _first_line(node: ast.stmt) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])


def _asked(task: Task, outcome: Outcome, exercise: Exercise, sandbox) -> Judged:
    """An answer that was graded on the course's own answers before it gets them here, too, as in carry_forward.py."""
    if outcome.judged[exercise.id].credited:
        before = task.exercises[: task.exercises.index(exercise)]
        defined = defined_names(task.source_of(exercise))
        again = [earlier for earlier in before if defined & set(earlier.names)]  # several answers in one cell
        _solve(task, before, sandbox)
        for step in task.steps:
            if step.number in task.numbers_of(exercise):
                _run_by_statements(task, outcome, sandbox, step)
        _solve(task, again, sandbox)
    alone = chained_calls.meets_others(task.plans[exercise.id])  # another answer may be one that uses what is forbidden
    return ask(task, sandbox, exercise, composed=not alone)


def _solve(task: Task, exercises, sandbox) -> None:
    for exercise in exercises:
        sandbox.run_cell(cells.answer_cell(exercise), task.limits.cell_seconds)


def _refused(exercise: Exercise, now: Judged) -> Verdict:
    names = ", ".join(f"`{name}`" for name in exercise.forbidden.names[:4])
    more = " and others" if len(exercise.forbidden.names) > 4 else ""
    sentence = f"In a program without {names}{more} your answer earns fewer points. {exercise.forbidden.because}"
    return replace(now.verdict, status="partly" if now.verdict.points else "refused", advice=(sentence,))


@cached
def stand_ins_of(notebook: str) -> tuple[str, ...]:
    """The modules of `mybert` that a notebook uses, and those that these were built on."""
    found: set[str] = set()
    waiting = [notebook]
    while waiting:
        text = "\n".join(cell.source for cell in notebooks.cells_of(waiting.pop()) if cell.is_code)
        new = set(_MENTIONED.findall(text)) & set(modules_before(notebook)) - found
        found |= new
        waiting += [exercise.notebook for exercise in catalogue.EXERCISES if exercise.kept_in in new]
    return tuple(sorted(found))
