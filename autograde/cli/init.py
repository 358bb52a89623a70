"""`autograde init`: makes a folder a course."""

from pathlib import Path

import click

from autograde.cli.options import new_exercises_option


@click.command()
@click.argument("course_dir", type=click.Path(file_okay=False, path_type=Path))
@click.option("--id", "course_id", default="", help="Set nbgrader's course id; empty for a course without an exchange.")
@click.option("--timezone", help="Time zone of the course, such as Europe/Berlin (default: UTC).")
@new_exercises_option
def init(course_dir, course_id, timezone, own_exercises):
    """Make COURSE_DIR an nbgrader course whose submissions run in a sandbox, also with `nbgrader autograde`.

    \b
    Example:
      autograde init course2026
      autograde release --course course2026

    Running it twice changes nothing. Keep a copy of .autograde/secret: hidden inputs are drawn from it.
    """
    from autograde.grader.book.course import make_course, set_exercises, set_zone, zone_of

    zone_of(course_dir, timezone)  # a wrong name ends here, before there is anything
    done = make_course(course_dir, course_id)
    if timezone:
        set_zone(course_dir, timezone)
        done.append(f"times are read and shown in {timezone}")
    if own_exercises:
        set_exercises(course_dir, own_exercises)
        done.append(f"exercises of your own are in {own_exercises}")
    click.echo("\n".join(done) if done else f"{course_dir} is already a course; nothing was changed")
