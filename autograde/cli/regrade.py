"""`autograde regrade`: one exercise again, in every graded submission."""

import json
from dataclasses import asdict

import click

from autograde.cli.grading import grading_options, limits_of, make_rooms, quiet_tensorflow
from autograde.cli.options import course_option


@click.command()
@click.argument("exercise")
@click.argument("assignment")
@course_option
@click.option("--student", "students", multiple=True, help="Only this student; may be given several times.")
@grading_options
def regrade(exercise, assignment, course, students, workers, cell_seconds, trust, as_json):
    """Grades EXERCISE of ASSIGNMENT again, after its check was mended; everything else stays as it is.

    \b
    Example:
      autograde regrade masked-attention ps3 --course course2026

    Scores given by hand, extensions and extra credit survive. Exit code 1: some submissions could not be regraded.
    """
    quiet_tensorflow()
    from autograde.exercises import catalogue
    from autograde.grader import grade as grading
    from autograde.grader.regrade import regrade as regrade_exercise
    from bertlab.progress import bar

    wanted = catalogue.find(exercise)
    opened = grading.open_assignment(course, assignment, limits_of(cell_seconds))
    with make_rooms(trust) as rooms, bar(f"Regrading {wanted.id}") as running:

        def progress(student, done, total):
            running.set_total(total)
            running.advance(note=student)

        report = regrade_exercise(opened, wanted, rooms, students, workers, progress)
    click.echo(json.dumps(asdict(report), indent=1) if as_json else "\n".join(_lines(wanted, report)))
    if report.failures:
        raise SystemExit(1)


def _lines(exercise, report) -> list[str]:
    lines = [f"{exercise.id}: {len(report.changed)} changed, {report.same} as before"]
    lines += [f"  {c.student}: {c.before:g} -> {c.after:g} of {exercise.points:g} ({c.status})" for c in report.changed]
    if report.outdated:
        lines.append(f"  handed in anew, so left to `autograde grade`: {', '.join(report.outdated)}")
    lines += [f"  not regraded: {student}: {reason}" for student, reason in report.failures]
    return lines
