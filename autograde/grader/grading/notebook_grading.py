"""Grades one notebook file. `grade_notebook` shows the steps in their order; each makes a new value from values.

read → plan → run → carry forward → without what is forbidden → name mistakes → give reasons → runs → record
"""

import time
from dataclasses import dataclass, replace
from pathlib import Path

from autograde.exercises.runs import of_notebook as runs_of
from autograde.exercises.spec import Exercise
from autograde.grader.grading.budget import Budget
from autograde.grader.grading.carry_forward import carry_forward
from autograde.grader.grading.forbidden import without_forbidden
from autograde.grader.grading.mistakes import name_mistakes
from autograde.grader.grading.results import Result
from autograde.grader.grading.run_cells import run_program
from autograde.grader.grading.sentences import with_reasons
from autograde.grader.grading.submission import label_of, plan_task
from autograde.grader.grading.training_runs import add_runs
from autograde.grader.grading.upstream import add_stand_in_notes
from autograde.grader.reading.repair import ReadSubmission, read_submission
from autograde.grader.reading.template import Template
from autograde.judging.verdict import Verdict
from autograde.sandbox.launchers import SharedLauncher
from autograde.sandbox.limits import Limits

FOR_THE_PROGRAM = 0.6  # of the budget; the rest is for testing what it earns without what exercises forbid


@dataclass(frozen=True)
class Graded:
    """A record, and the submission it is about (for the notebook that formgrader shows)."""

    result: Result
    submission: ReadSubmission


def grade_notebook(
    source: Path | bytes, template: Template, exercises: tuple[Exercise, ...], launcher: SharedLauncher, blank: Result,
    secret: bytes, limits: Limits, budget: Budget | None = None,
) -> Graded:  # fmt: skip
    """The record `blank` filled in; its `upstream` has the upstream modules of the notebook.

    budget: what is left for the submission; by default that of one notebook. Raises SandboxError if no sandbox can be
    made; never for anything in the file.
    """
    began, budget = time.monotonic(), budget or Budget.of(limits)
    with budget.thinking():
        submission = read_submission(source, template)
        if submission.problem:
            message = submission.problem.message
            verdicts = tuple(
                Verdict(each.id, label_of(each), "missing", 0.0, float(each.points), advice=(message,))
                for each in exercises
            )
            result = replace(blank, verdicts=verdicts, repairs=tuple(submission.repairs), problem=message)
            return Graded(result, submission)
        task = plan_task(submission, template, exercises, blank, secret, limits)
    first = budget.part(FOR_THE_PROGRAM)
    outcome = run_program(task, launcher, first)
    outcome = carry_forward(task, outcome, launcher, first)
    budget.take(first)
    outcome = without_forbidden(task, outcome, launcher, budget)
    outcome = name_mistakes(task, outcome, launcher, budget)
    with budget.thinking():
        outcome = with_reasons(task, outcome)
    outcome = add_stand_in_notes(task, outcome, budget)
    if isinstance(source, Path):
        runs = [run for run in runs_of(blank.notebook) if template.graded_cell(run.id)]
        outcome = add_runs(task, outcome, runs, source.parent, launcher, budget)
    verdicts = (*(outcome.verdict(exercise) for exercise in task.exercises), *outcome.runs)
    technical = "; ".join(outcome.technical) or None
    result = replace(
        blank, verdicts=verdicts, repairs=tuple(submission.repairs), technical=technical, untested=outcome.untested,
        doubts=outcome.doubts, again=outcome.again, seconds=round(time.monotonic() - began, 2),
    )  # fmt: skip
    return Graded(result, submission)
