"""`autograde due`, `extend`, `policy` and `total`: due dates, more time, and from assignments to a course grade."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import click

from autograde.cli.options import COURSE, CourseError, gradebook_of, require_assignments
from autograde.grader.book.policy import MAX_DAYS, POLICY, totals
from bertlab.cli.from_signature import FILE, FOLDER, command, option
from bertlab.common.files import write_text


@command()
def extend(
    assignment: str,
    student: str,
    *,
    course: FOLDER = COURSE,
    days: float | None = option(
        None, "Give so many days after the due date of all others; 0 takes an extension back.", at_least=0,
        at_most=MAX_DAYS,
    ),
    until: str | None = option(
        None, 'The time until which the student has, such as "2026-12-03 23:59".', metavar="TIME"
    ),
):  # fmt: skip
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


@command()
def due(assignment: str, time: str | None = None, *, course: FOLDER = COURSE):
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
    require_assignments(book, course, [name])
    return next(one for one in book.book.assignments if one.name == name)


@command()
def policy(
    *,
    course: FOLDER = COURSE,
    late_days: int | None = option(None, "Free late days of each student over the term.", at_least=0),
    drop_lowest: int | None = option(None, "So many assignments with the lowest share do not count.", at_least=0),
    weights: tuple[str, ...] = option(
        (), "Weight of an assignment (default: 1; 0: it does not count); repeat for more.", "--weight",
        metavar="ASSIGNMENT=NUMBER",
    ),
    timezone: str | None = option(None, "Time zone of the course, such as Europe/Berlin."),
):  # fmt: skip
    """Set, or show without options, what `autograde total` and late penalties go by.

    \b
    Example:
      autograde policy --late-days 4 --drop-lowest 1 --weight ps7=2 --timezone Europe/Berlin
    """
    from autograde.grader.book.course import set_zone, zone_of

    current = POLICY.load(course)
    changed = replace(
        current,
        late_days=current.late_days if late_days is None else late_days,
        drop_lowest=current.drop_lowest if drop_lowest is None else drop_lowest,
        weights=current.weights | dict(_weight(pair) for pair in weights),
    )
    if changed != current:
        POLICY.save(changed, course)
    if timezone:
        set_zone(course, timezone)
    listed = ", ".join(f"{name} {weight:g}" for name, weight in changed.weights.items()) or "1 for all"
    click.echo(
        f"late days: {changed.late_days}; lowest dropped: {changed.drop_lowest}; weights: {listed}; "
        f"time zone: {zone_of(course).key}"
    )


def _weight(pair: str) -> tuple[str, float]:
    name, _, number = pair.partition("=")
    try:
        weight = float(number)
    except ValueError:
        weight = -1.0
    if not name or not 0 <= weight < float("inf"):
        raise click.BadParameter(f"expected ASSIGNMENT=NUMBER, a number of 0 or more, got {pair!r}")
    return name, weight


@command()
def total(
    *, course: FOLDER = COURSE, path: FILE = option(None, "Write to this file instead of standard output.", "--to")
):
    """Print a CSV with each student's course grade in percent, from all assignments and the policy of the course.

    \b
    Example:
      autograde total --course course --to course_grades.csv

    An assignment that a student did not hand in counts 0; one that nobody has handed in does not count yet.
    """
    from autograde.grader.book.people import namer
    from autograde.grader.exports.tables import table

    with gradebook_of(course) as book:
        book.write_late_penalties()
        rows = book.grades()
    given = {row["assignment"] for row in rows if row["submitted"]}
    if not given:
        raise CourseError(f"{course}: nothing is graded yet; run `autograde grade` first")
    unknown = sorted(set(POLICY.load(course).weights) - {row["assignment"] for row in rows})
    if unknown:
        raise CourseError(
            f"{course}: expected weights of this course's assignments, got one of {unknown[0]!r}; "
            "correct it with `autograde policy`"
        )
    names, name = sorted(given), namer(course)
    found = totals([row for row in rows if row["assignment"] in given], POLICY.load(course))
    lines = [
        [
            one.student,
            name(one.student),
            *(100 * one.shares.get(key, 0.0) for key in names),
            " ".join(one.dropped),
            one.percent,
        ]
        for one in found
    ]
    text = table([["student", "name", *(f"{key} %" for key in names), "dropped", "course grade %"], *lines])
    write_text(path, text) if path else click.echo(text, nl=False)
