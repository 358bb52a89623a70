"""Grades one notebook file: read, repair, run in a sandbox, judge, carry errors forward, write the record."""

import time
from dataclasses import dataclass, replace
from pathlib import Path

from autograde.exercises.runs import of_notebook as runs_of
from autograde.exercises.spec import Exercise
from autograde.grader.carry_forward import carry_forward
from autograde.grader.launcher import SharedLauncher
from autograde.grader.mistakes import name_mistakes
from autograde.grader.repair import Submission, read_submission
from autograde.grader.results import Result
from autograde.grader.stand_in_notes import add_stand_in_notes
from autograde.grader.submission import Grading, steps_of, unread, walk_plainly
from autograde.grader.template import Template
from autograde.grader.training_runs import grade_run
from autograde.sandbox.limits import Limits


@dataclass(frozen=True)
class Graded:
    """A record, and the submission it is about (for the notebook that formgrader shows)."""

    result: Result
    submission: Submission


def grade_notebook(
    source: Path | bytes, template: Template, exercises: tuple[Exercise, ...], launcher: SharedLauncher, blank: Result,
    secret: bytes, limits: Limits,
) -> Graded:  # fmt: skip
    """The record `blank` filled in; its `upstream` has the upstream modules of the notebook.

    Raises SandboxError if no sandbox can be made; never for anything in the file.
    """
    began = time.monotonic()
    submission = read_submission(source, template)
    if submission.problem:
        message = submission.problem.message
        verdicts = tuple(unread(exercise, message) for exercise in exercises)
        result = replace(blank, verdicts=verdicts, repairs=tuple(submission.repairs), problem=message)
        return Graded(result, submission)
    grading = Grading(submission, exercises, blank.student, secret, limits, blank.upstream)
    steps = steps_of(submission, template, exercises)
    walk_plainly(grading, steps, launcher)
    carry_forward(grading, steps, launcher)
    name_mistakes(grading)
    add_stand_in_notes(grading)
    runs = [run for run in runs_of(blank.notebook) if template.graded_cell(run.id) and isinstance(source, Path)]
    judged = [grade_run(run, source.parent, grading, steps, launcher) for run in runs]
    result = replace(
        blank,
        verdicts=(*(grading.verdicts[exercise.id] for exercise in exercises), *judged),
        repairs=tuple(submission.repairs),
        technical="; ".join(grading.technical) or None,
        seconds=round(time.monotonic() - began, 2),
    )
    return Graded(result, submission)
