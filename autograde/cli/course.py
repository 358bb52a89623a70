"""`autograde init`, `status`, `forget`, `due`, `extend`, `policy` and `total`: a course, its dates and its grades."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import click

from autograde.cli.options import COURSE, EXERCISES, assignment_of, gradebook_of
from autograde.grader.book.course import CourseError, local_time, make_course, set_exercises, set_zone, to_utc, zone_of
from autograde.grader.book.people import People, namer
from autograde.grader.book.policy import MAX_DAYS, POLICY, totals
from bertlab.cli.from_signature import FILE, FOLDER, command, option
from bertlab.common.files import write_text


@command()
def init(
    course_dir: FOLDER,
    *,
    course_id: str = option("", "Set nbgrader's course id; empty for a course without an exchange.", "--id"),
    timezone: str | None = option(None, "Time zone of the course, such as Europe/Berlin (default: UTC)."),
    own_exercises: FOLDER = EXERCISES,  # which need not be there yet
):
    """Make COURSE_DIR an nbgrader course whose submissions run in a sandbox, also with `nbgrader autograde`.

    \b
    Example:
      autograde init course2026
      autograde release --course course2026

    Running it twice changes nothing. Keep a copy of .autograde/secret: hidden inputs are drawn from it.
    """
    zone_of(course_dir, timezone)  # a wrong name ends here, before there is anything
    done = make_course(course_dir, course_id)
    if timezone:
        set_zone(course_dir, timezone)
        done.append(f"times are read and shown in {timezone}")
    if own_exercises:
        set_exercises(course_dir, own_exercises)
        done.append(f"exercises of your own are in {own_exercises}")
    click.echo("\n".join(done) if done else f"{course_dir} is already a course; nothing was changed")


_COLUMNS = {"submitted": "notebooks in", "graded": "graded", "outdated": "outdated", "technical": "technical",
            "needs_manual_grade": "wait for you", "feedback": "feedback"}  # fmt: skip


@command(json="Print one JSON list for scripts.")
def status(assignments: tuple[str, ...] = (), *, course: FOLDER = COURSE):
    """Count the submissions of each assignment: handed in, graded, outdated, waiting for you.

    \b
    Example:
      autograde status --course course
      autograde status ps3 --json
    """
    folders = [*course.glob("release/*/"), *course.glob("submitted/*/*/"), *course.glob("results/*/")]
    known = sorted({folder.name for folder in folders if not folder.name.startswith(".")})
    unknown = sorted(set(assignments) - set(known))
    if unknown:
        raise CourseError(f"{course}: no assignment {unknown[0]!r}; assignments: {', '.join(known) or 'none'}")
    rows = [_row(course, name) for name in assignments or known]
    if rows and (course / "gradebook.db").is_file():  # due dates and points by hand, which only it knows
        with gradebook_of(course) as book:
            released = {one.name: one for one in book.book.assignments}
            for row, one in ((row, released.get(row["assignment"])) for row in rows):
                if one:
                    row["due"] = local_time(str(one.duedate or ""), zone_of(course))
                    row["needs_manual_grade"] = sum(submission.needs_manual_grade for submission in one.submissions)
    lines = ["  ".join([f"{'assignment':<16}", *_COLUMNS.values(), "due"])]
    for row in rows:
        counts = [f"{row[column]:>{len(title)}}" for column, title in _COLUMNS.items()]
        lines.append("  ".join([f"{row['assignment']:<16}", *counts, row["due"]]).rstrip())
    none = f"{course}: no assignments yet (nothing in release/, submitted/ or results/)"
    yield rows, "\n".join(lines) if rows else none


def _row(course: Path, assignment: str) -> dict:
    from autograde.grader.grading.results import load_results
    from autograde.grader.hand_ins.hand_in import digest

    submitted = sorted(path for path in course.glob(f"submitted/*/{assignment}/*.ipynb") if path.is_file())
    graded = {(result.student, result.notebook): result for result in load_results(course, assignment)}
    now = {(path.parent.parent.name, path.stem): path for path in submitted}
    both = [(result, now[key]) for key, result in graded.items() if key in now]
    return {
        "assignment": assignment,
        "submitted": len(submitted),
        "graded": len(graded),
        "outdated": sum(bool(result.sha256) and result.sha256 != digest(path) for result, path in both),
        "technical": sum(result.failed_technically for result in graded.values()),
        "feedback": len(list(course.glob(f"feedback/*/{assignment}/*.html"))),
        "due": "",
        "needs_manual_grade": 0,
    }


@command()
def forget(
    student: str,
    *,
    course: FOLDER = COURSE,
    assignment: str | None = option(None, "Delete only the student's work of this assignment (default: all)."),
    yes: bool = option(False, "Delete without asking for confirmation."),
):
    """Delete STUDENT from the course: files, results, grades and pages. This cannot be undone.

    \b
    Example:
      autograde forget jdoe --course course
      autograde forget jdoe --course course --assignment ps3

    The LMS, its downloads, the exchange and your backups are not changed. Class reports that name the student are
    deleted too; write them again with `autograde report`.
    """
    from autograde.grader.book.forget import check_known, kept_about
    from autograde.grader.book.forget import forget as forget_student

    check_known(course, student)
    if not yes:
        listed = "\n".join(f"  {path}" for path in kept_about(course, student, assignment)) or "  no files"
        where = f"{course / 'gradebook.db'} and in {course / 'collected' / (assignment or '*')}/manifest.json"
        click.echo(f"{listed}\n  {student} in {where}")
        if not click.confirm("Delete all of this?"):
            click.echo("nothing was deleted")
            return
    gone = forget_student(course, student, assignment)
    work = f"{student}'s work of {assignment}" if assignment else student
    click.echo(f"deleted {work}: {len(gone)} folders and pages, and the entries in the gradebook")


@command()
def due(assignment: str, time: str | None = None, *, course: FOLDER = COURSE):
    """Set when ASSIGNMENT is due, or show it without TIME; late penalties are computed again.

    \b
    Example:
      autograde due ps3 "2026-11-30 23:59"
    """
    zone = zone_of(course)
    with gradebook_of(course) as book:
        released = assignment_of(book, course, assignment)
        if time:
            released.duedate = to_utc(time, zone).replace(tzinfo=None)
            book.book.db.commit()
            book.write_late_penalties()
        shown = local_time(str(released.duedate), zone) if released.duedate else "no due date"
    click.echo(f"{assignment}: {shown}")


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
    with gradebook_of(course) as book:
        released = assignment_of(book, course, assignment)
        known = {one.id for one in book.book.students} | People(course).known.keys()
        known |= {folder.name for folder in course.glob("submitted/*/")}
        if student not in known:
            raise CourseError(f"{course}: no student {student!r}; `autograde export` lists the students")
        if until is not None:
            if released.duedate is None:
                raise CourseError(
                    f"{course}: {assignment} has no due date; set one with `autograde due {assignment} TIME`"
                )
            days = (to_utc(until, zone_of(course)).replace(tzinfo=None) - released.duedate) / timedelta(days=1)
            if days < 0:
                raise CourseError(f"{until} is before the due date of {assignment}")
        if not 0 <= days <= MAX_DAYS:  # before it is saved: nan passes the option's range
            raise CourseError(f"expected an extension of 0 to {MAX_DAYS} days, got {days:g}")
        POLICY.save(POLICY.load(course).extended(assignment, student, days), course)
        book.write_late_penalties()
        penalty = sum(row["late_penalty"] for row in book.grades([assignment]) if row["student"] == student)
    click.echo(f"{student}: {days:g} days more for {assignment}; late penalty now {penalty:g} points")


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
    from autograde.grader.exports.tables import table

    with gradebook_of(course) as book:
        book.write_late_penalties()
        rows = book.grades()
    given, rules = sorted({row["assignment"] for row in rows if row["submitted"]}), POLICY.load(course)
    if not given:
        raise CourseError(f"{course}: nothing is graded yet; run `autograde grade` first")
    unknown = sorted(set(rules.weights) - {row["assignment"] for row in rows})
    if unknown:
        raise CourseError(
            f"{course}: expected weights of this course's assignments, got one of {unknown[0]!r}; "
            "correct it with `autograde policy`"
        )
    name, lines = namer(course), [["student", "name", *(f"{key} %" for key in given), "dropped", "course grade %"]]
    for one in totals([row for row in rows if row["assignment"] in given], rules):
        shares = (100 * one.shares.get(key, 0.0) for key in given)
        lines.append([one.student, name(one.student), *shares, " ".join(one.dropped), one.percent])
    text = table(lines)
    write_text(path, text) if path else click.echo(text, nl=False)
