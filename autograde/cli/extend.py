"""`autograde extend` and `autograde due`: due dates, and more time for one student, in the course's time zone."""

from datetime import timedelta
from pathlib import Path

import click

from autograde.cli.options import CourseError, course_option, gradebook_of
from autograde.grader.book.policy import MAX_DAYS, POLICY


@click.command()
@click.argument("assignment")
@click.argument("student")
@course_option
@click.option(
    "--days",
    type=click.FloatRange(0, MAX_DAYS),
    help="Give so many days after the due date of all others; 0 takes an extension back.",
)
@click.option("--until", metavar="TIME", help='The time until which the student has, such as "2026-12-03 23:59".')
def extend(assignment, student, course, days, until):
    """Give STUDENT more time for ASSIGNMENT; late penalties are computed again.

    \b
    Example:
      autograde extend ps3 doejane --days 3
      autograde extend ps3 doejane --until "2026-12-03 23:59"

    The student need not have handed in yet. .autograde/policy.json keeps it when the assignment is graded again.
    """
    if (days is None) == (until is None):
        raise click.UsageError("expected --days or --until, one of them")
    from autograde.grader.book.people import People

    with gradebook_of(course) as book:
        released = _assignment(book, course, assignment)
        known = {one.id for one in book.book.students} | People(course).known.keys()
        known |= {folder.name for folder in course.glob("submitted/*/")}
        if student not in known:
            raise CourseError(f"{course}: no student {student!r}; `autograde export` lists the students")
        if until is not None:
            days = _days_until(course, assignment, released.duedate, until)
        if not 0 <= days <= MAX_DAYS:  # before it is saved: nan passes the option's range
            raise CourseError(f"expected an extension of 0 to {MAX_DAYS} days, got {days:g}")
        POLICY.save(POLICY.load(course).extended(assignment, student, days), course)
        book.write_late_penalties()
        penalty = sum(row["late_penalty"] for row in book.grades([assignment]) if row["student"] == student)
    click.echo(f"{student}: {days:g} days more for {assignment}; late penalty now {penalty:g} points")


def _days_until(course: Path, assignment: str, duedate, until: str) -> float:
    from autograde.grader.book.course import to_utc, zone_of

    if duedate is None:
        raise CourseError(f"{course}: {assignment} has no due date; set one with `autograde due {assignment} TIME`")
    days = (to_utc(until, zone_of(course)).replace(tzinfo=None) - duedate) / timedelta(days=1)
    if days < 0:
        raise CourseError(f"{until} is before the due date of {assignment}")
    return days


@click.command()
@click.argument("assignment")
@click.argument("time", required=False)
@course_option
def due(assignment, time, course):
    """Set when ASSIGNMENT is due, or show it without TIME; late penalties are computed again.

    \b
    Example:
      autograde due ps3 "2026-11-30 23:59"
    """
    from autograde.grader.book.course import local_time, to_utc, zone_of

    zone = zone_of(course)
    with gradebook_of(course) as book:
        released = _assignment(book, course, assignment)
        if time:
            released.duedate = to_utc(time, zone).replace(tzinfo=None)
            book.book.db.commit()
            book.write_late_penalties()
        shown = local_time(str(released.duedate), zone) if released.duedate else "no due date"
    click.echo(f"{assignment}: {shown}")


def _assignment(book, course: Path, name: str):
    found = [one for one in book.book.assignments if one.name == name]
    if not found:
        there = ", ".join(row["assignment"] for row in book.assignments()) or "none"
        raise CourseError(f"{course}: no assignment {name!r} in the gradebook; assignments: {there}")
    return found[0]
