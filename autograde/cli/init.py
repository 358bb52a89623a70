"""`autograde init`: a folder becomes a course."""

from pathlib import Path

import click


@click.command()
@click.argument("course_dir", type=click.Path(file_okay=False, path_type=Path))
@click.option("--id", "course_id", default="", help="nbgrader's course id; empty for a course without an exchange.")
def init(course_dir, course_id):
    """Makes COURSE_DIR an nbgrader course whose submissions are run safely, also by `nbgrader autograde`.

    \b
    Example:
      autograde init course2026
      autograde release --course course2026

    Doing it twice changes nothing. Keep a copy of .autograde/secret: hidden inputs are drawn from it.
    """
    from autograde.grader.course import make_course

    done = make_course(course_dir, course_id)
    click.echo("\n".join(done) if done else f"{course_dir}: it is a course already; nothing was changed")
