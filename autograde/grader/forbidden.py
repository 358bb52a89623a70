"""Tests whether an answer needs what its exercise forbids: a second sandbox, in which that does nothing, decides.

In the first sandbox a program can reach everything that later exercises may use. Here all that an exercise forbids is
inert before the first cell runs (`autograde.sandbox.forbidding`), and what an answer earns in addition elsewhere does
not count. Exercises that forbid the same share a sandbox. A program whose text shows that it cannot reach anything
forbidden (`shortcuts.may_reach`) is not run again.
"""

import ast
import functools
import re
from dataclasses import replace
from itertools import pairwise

from autograde import mybert_importer, shortcuts, syntax
from autograde.errors import SandboxEnded
from autograde.exercises import catalogue, cells, notebooks
from autograde.exercises.spec import Exercise
from autograde.grader.budget import Budget, BudgetSpent
from autograde.grader.source import without_commands
from autograde.grader.submission import Judged, Outcome, Step, Task, unjudged
from autograde.grader.upstream import modules_before
from autograde.grader.walk import ask, entered
from autograde.sandbox import limits as names_of_ends
from autograde.verdict import Verdict

_MENTIONED = re.compile(rf"\b{mybert_importer.PACKAGE}\.(\w+)")


def without_forbidden(task: Task, outcome: Outcome, launcher, budget: Budget) -> Outcome:
    """The outcome with the points that each answer earns without what its exercise forbids."""
    program = [without_commands(step.source)[0] for step in task.steps if step.exercise is None]
    program += task.upstream.values()
    for names, exercises in _groups(task, outcome).items():
        if shortcuts.may_reach(program, names):
            outcome = _asked_without(task, outcome, names, exercises, launcher, budget)
    return outcome


def _groups(task: Task, outcome: Outcome) -> dict[tuple[str, ...], list[Exercise]]:
    """Forbidden names → the exercises that forbid them and have earned points."""
    found: dict[tuple[str, ...], list[Exercise]] = {}
    for exercise in task.exercises:
        if exercise.forbidden.names and outcome.verdict(exercise).points:
            found.setdefault(exercise.forbidden.names, []).append(exercise)
    return found


def _asked_without(task, outcome, names, exercises, launcher, budget) -> Outcome:
    """One pass. An answer that the sandbox did not get to counts for nothing, and the instructor sees why."""
    waiting = {exercise.id: exercise for exercise in exercises}
    upstream = {} if any(outcome.judged[identity].credited for identity in waiting) else task.upstream
    try:
        with entered(task, launcher, upstream, budget) as sandbox:
            sandbox.forbid(list(names), list(stand_ins_of(task.notebook)))
            for step in task.steps:
                if step.exercise is None:
                    _run_by_statements(task, outcome, sandbox, step)
                elif step.exercise.id in waiting:
                    now = _asked(task, outcome, step.exercise, sandbox)
                    if now.verdict.points >= outcome.verdict(step.exercise).points:
                        del waiting[step.exercise.id]
            for exercise in list(waiting.values()):  # an answer may be above the cells it needs
                now = _asked(task, outcome, exercise, sandbox)
                if now.verdict.points < outcome.verdict(exercise).points:
                    outcome = outcome.with_judged(exercise, replace(now, verdict=_refused(exercise, now)))
                del waiting[exercise.id]
    except (SandboxEnded, BudgetSpent) as ended:
        outcome = replace(outcome, again=outcome.again or _is_from_outside(ended))
        for exercise in waiting.values():
            reason = f"without what this exercise forbids, its program did not end well ({_end(ended)})"
            outcome = outcome.with_technical(f"{exercise.names[0]}: {reason}")
            outcome = outcome.with_verdict(exercise, unjudged(exercise, task.plans[exercise.id], reason))
    return outcome


def _is_from_outside(ended: Exception) -> bool:
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
    """An answer that was graded on the course's own answers before it gets them here, too."""
    before = task.exercises[: task.exercises.index(exercise)] if outcome.judged[exercise.id].credited else ()
    for earlier in before:
        sandbox.run_cell(cells.answer_cell(earlier), task.limits.cell_seconds)
    return ask(task, sandbox, exercise)


def _refused(exercise: Exercise, now: Judged) -> Verdict:
    names = ", ".join(f"`{name}`" for name in exercise.forbidden.names[:4])
    more = " and others" if len(exercise.forbidden.names) > 4 else ""
    because = exercise.forbidden.because or "In this exercise you write it yourself."
    sentence = f"In a program without {names}{more} your answer earns fewer points. {because}"
    return replace(now.verdict, status="partly" if now.verdict.points else "refused", advice=(sentence,))


@functools.cache
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
