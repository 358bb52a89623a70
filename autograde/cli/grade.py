"""`autograde grade`: every submission that is new or changed → verdicts and grades."""

import functools
import json
import time
from contextlib import contextmanager
from dataclasses import asdict

import click

from autograde.cli.grading import (
    grading_options,
    limits_of,
    make_launcher,
    no_trust_on_a_cluster,
    progress_bar,
    quiet_tensorflow,
    scheduler_option,
    seconds_text,
    warn_of_changed_checks,
)
from autograde.cli.options import CourseError, course_option, exercises_option
from autograde.common.texts import one_line


@click.command()
@click.argument("assignment", required=False)
@course_option
@click.option("--student", "students", multiple=True, help="Grade only this student; repeat for more.")
@click.option("--resume/--again", default=True, show_default=True,
              help="Resume where an earlier run stopped, or grade everything again.")  # fmt: skip
@scheduler_option
@grading_options
@exercises_option
def grade(assignment, course, students, resume, scheduler, workers, cell_seconds, trust, as_json, own_exercises):
    """Grade ASSIGNMENT (default: all) in a sandbox; write the gradebook, verdicts and notebooks.

    \b
    Example:
      autograde grade ps3 --course course2026 --workers 2
      autograde grade ps3 --student jane --again

    A graded submission is graded again only when its file changes. You can stop the run at any time and start it
    again. Exit code 1: some submissions have no grade yet; they are listed.
    """
    quiet_tensorflow()
    from autograde.grader.grading import grade as grading

    names = [assignment] if assignment else grading.assignments(course)
    if not names:
        raise CourseError(f"{course}: no assignment is released; run `autograde release --course {course}`")
    opened = [grading.open_assignment(course, name, limits_of(cell_seconds)) for name in names]
    for item in opened:
        warn_of_changed_checks(item)
    began = time.monotonic()
    any_new = not resume or any(grading.anything_new(item, students) for item in opened)
    with _grader(scheduler, trust, workers, any_new) as grade_one:
        reports = {item.name: _with_bar(grade_one, item, students, not resume) for item in opened}
    if as_json:
        click.echo(json.dumps({name: asdict(report) for name, report in reports.items()}, indent=1))
    else:
        click.echo("\n".join(_lines(reports, time.monotonic() - began)))
    if any(report.failures for report in reports.values()):
        raise SystemExit(1)


@contextmanager
def _grader(scheduler, trust, workers, any_new):
    """Yields the function that grades submissions: (assignment, students, again, progress) → report."""
    from autograde.grader.grading import cluster
    from autograde.grader.grading.grade import grade as grade_here

    if scheduler:
        no_trust_on_a_cluster(trust)
        with cluster.cluster(scheduler) as (pool, slots):
            yield functools.partial(cluster.grade, pool, slots)
    else:
        with make_launcher(trust, now=any_new) as launcher:
            yield lambda assignment, *rest: grade_here(assignment, launcher, rest[0], workers, *rest[1:])


def _with_bar(grade_one, assignment, students, again):
    with progress_bar(f"Grading {assignment.name}") as progress:
        return grade_one(assignment, students, again, progress)


def _lines(reports, seconds) -> list[str]:
    lines = []
    for name, report in reports.items():
        before = f", {report.up_to_date} graded before" if report.up_to_date else ""
        lines.append(f"{name}: {report.graded} graded{before} in {seconds_text(seconds)}")
        if report.technical:
            lines.append(f"  {report.technical} with technical failures; `autograde report {name}` lists them")
        lines += [f"  {line}" for line in (*report.damaged, *report.regrouped)]
        lines += [one_line(f"  not graded: {student}: {reason}") for student, reason in report.failures]
    return lines
