"""`autograde forget`: deletes everything that a course stores about a student."""

import click

from autograde.cli.options import course_option


@click.command()
@click.argument("student")
@course_option
@click.option("--assignment", help="Delete only the student's work of this assignment (default: all).")
@click.option("--yes", is_flag=True, help="Delete without asking for confirmation.")
def forget(student, course, assignment, yes):
    """Delete STUDENT from the course: files, results, grades and pages. This cannot be undone.

    \b
    Example:
      autograde forget jdoe --course course
      autograde forget jdoe --course course --assignment ps3

    The LMS, its downloads, the exchange and your backups are not changed. Class reports that name the student are
    deleted too; write them again with `autograde report`.
    """
    from autograde.grader.book.forget import forget as forget_student
    from autograde.grader.book.forget import forget_assignment, is_known, kept_about, unknown

    if not is_known(course, student):
        raise unknown(course, student)
    if not yes:
        listed = "\n".join(f"  {path}" for path in kept_about(course, student, assignment)) or "  no files"
        where = f"{course / 'gradebook.db'} and in {course / 'collected' / (assignment or '*')}/manifest.json"
        click.echo(f"{listed}\n  {student} in {where}")
        if not click.confirm("Delete all of this?"):
            click.echo("nothing was deleted")
            return
    if assignment is None:
        gone = forget_student(course, student)
    else:
        gone = forget_assignment(course, student, assignment)
    work = f"{student}'s work of {assignment}" if assignment else student
    click.echo(f"deleted {work}: {len(gone)} folders and pages, and the entries in the gradebook")
