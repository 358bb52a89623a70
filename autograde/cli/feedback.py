"""`autograde feedback`: one page per student and notebook."""

from pathlib import Path

import click

from autograde.cli.comments import unknown_ids
from autograde.cli.options import course_option, results_of, templates_of


@click.command()
@click.argument("assignment")
@course_option
@click.option("--student", "students", multiple=True, help="Write the pages of only this student; repeat for more.")
@click.option("--zip", "system", type=click.Choice(("canvas", "moodle")),
              help="Also pack the feedback of all students as this system takes it back in bulk.")  # fmt: skip
@click.option("--to", "path", type=click.Path(dir_okay=False, path_type=Path),
              help="Write the zip to this file (default: feedback/ASSIGNMENT-SYSTEM.zip).")  # fmt: skip
def feedback(assignment, course, students, system, path):
    """Write feedback/STUDENT/ASSIGNMENT/NOTEBOOK.html from the results and from points and comments you gave by hand.

    \b
    Example:
      autograde feedback ps3 --course course
      autograde feedback ps3 --student jdoe
      autograde feedback ps3 --zip canvas  # for Canvas: Upload Submissions
      nbgrader release_feedback ps3        # returns the pages to students through the exchange

    Exit code 1: the zip lacks somebody's feedback; they are listed.
    """
    if path and not system:
        raise click.UsageError("--to names the zip; add --zip canvas or --zip moodle")
    from autograde.grader.book.manual_points.for_feedback import given_by_people
    from autograde.grader.pages.feedback import write_feedback
    from bertlab.common.progress import track

    results, templates = results_of(course, assignment, students), templates_of(course, assignment)
    given = given_by_people(course, assignment, templates)
    for result in track(results, "Writing feedback"):
        write_feedback(course, result, **given(result))
    click.echo(f"{len(results)} pages in {course / 'feedback'}")
    for line in unknown_ids(course, assignment):
        click.echo(f"note: {line}; add it and write the feedback again", err=True)
    if system and _write_zip(course, assignment, system, templates, path):
        raise SystemExit(1)


def _write_zip(course: Path, assignment: str, system: str, templates, path: Path | None) -> bool:
    """Whether somebody's feedback is not in the zip."""
    from autograde.grader.exports.feedback_texts import feedback_zip
    from bertlab.common.files import write_bytes

    packed = feedback_zip(course, assignment, system, templates)
    path = path or course / "feedback" / f"{assignment}-{system}.zip"
    write_bytes(path, packed.content)
    click.echo(f"feedback of {packed.count} students in {path}")
    for student, reason in packed.left_out:
        click.echo(f"  not in it: {student}: {reason}", err=True)
    return bool(packed.left_out)
