"""`autograde regrade`: one exercise again, in every graded submission."""

import functools
import json
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
    warn_of_changed_checks,
)
from autograde.cli.options import course_option


@click.command()
@click.argument("exercise")
@click.argument("assignment")
@course_option
@click.option("--student", "students", multiple=True, help="Grade only this student; repeat for more.")
@scheduler_option
@grading_options
def regrade(exercise, assignment, course, students, scheduler, workers, cell_seconds, trust, as_json):
    """Grade EXERCISE of ASSIGNMENT again, for example after its check was repaired; change nothing else.

    \b
    Example:
      autograde regrade masked-attention ps3 --course course2026

    Keeps scores given by hand, extensions and extra credit. Exit code 1: some submissions could not be regraded.
    """
    quiet_tensorflow()
    from autograde.exercises import catalogue
    from autograde.grader.grading import grade as grading
    from autograde.grader.grading.regrade import regrade as regrade_exercise

    wanted = catalogue.find(exercise)
    opened = grading.open_assignment(course, assignment, limits_of(cell_seconds))
    warn_of_changed_checks(opened)
    with _grader_options(scheduler, trust) as where, progress_bar(f"Regrading {wanted.id}") as progress:
        report = regrade_exercise(opened, wanted, students=students, workers=workers, progress=progress, **where)
    click.echo(json.dumps(asdict(report), indent=1) if as_json else "\n".join(_lines(wanted, report)))
    if report.failures:
        raise SystemExit(1)


@contextmanager
def _grader_options(scheduler, trust):
    """Yields the arguments of `regrade.regrade` for grading here or on a cluster."""
    from autograde.grader.grading import cluster

    if scheduler:
        no_trust_on_a_cluster(trust)
        with cluster.cluster(scheduler) as (pool, _):
            yield {"launcher": None, "again": functools.partial(cluster.grade_again, pool)}
    else:
        with make_launcher(trust) as launcher:
            yield {"launcher": launcher}


def _lines(exercise, report) -> list[str]:
    lines = [f"{exercise.id}: {len(report.changed)} changed, {report.same} as before"]
    lines += [f"  {c.student}: {c.before:g} -> {c.after:g} of {exercise.points:g} ({c.status})" for c in report.changed]
    if report.outdated:
        lines.append(f"  handed in again, so run `autograde grade` for: {', '.join(report.outdated)}")
    lines += [f"  not regraded: {student}: {reason}" for student, reason in report.failures]
    return lines
