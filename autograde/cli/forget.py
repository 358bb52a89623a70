"""`autograde forget`: deletes what a course keeps about a student."""

import click

from autograde.cli.options import course_option


@click.command()
@click.argument("student")
@course_option
@click.option("--yes", is_flag=True, help="Do not ask.")
def forget(student, course, yes):
    """Deletes STUDENT from the course: files, results, grades, pages; it cannot be undone.

    \b
    Example:
      autograde forget jdoe --course course

    The LMS, its downloads, the exchange and your backups are not touched. Class reports that named the student are
    deleted too; `autograde report` writes them anew.
    """
    from autograde.grader.forget import forget as forget_student
    from autograde.grader.forget import kept_about

    if not yes:
        listed = "\n".join(f"  {path}" for path in kept_about(course, student)) or "  no files"
        click.echo(f"{listed}\n  {student} in {course / 'gradebook.db'} and in {course / 'collected'}/*/manifest.json")
        click.confirm("Delete all of this?", abort=True)
    gone = forget_student(course, student)
    click.echo(f"{student} is forgotten: {len(gone)} folders and pages deleted, and what stood in the gradebook")
