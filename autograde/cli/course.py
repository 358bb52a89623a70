"""`autograde init`, `status` and `forget`: a course folder, and what is in it."""

from pathlib import Path

import click

from autograde.cli.options import COURSE, EXERCISES, CourseError
from bertlab.cli.from_signature import FOLDER, command, option


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


@command(json="Print one JSON list for scripts.")
def status(assignments: tuple[str, ...] = (), *, course: FOLDER = COURSE):
    """Count the submissions of each assignment: handed in, graded, outdated, waiting for you.

    \b
    Example:
      autograde status --course course
      autograde status ps3 --json
    """
    known = _assignments(course)
    unknown = sorted(set(assignments) - set(known))
    if unknown:
        raise CourseError(f"{course}: no assignment {unknown[0]!r}; assignments: {', '.join(known) or 'none'}")
    names = assignments or known
    rows = [_row(course, name) for name in names]
    _add_gradebook(course, rows)
    none = f"{course}: no assignments yet (nothing in release/, submitted/ or results/)"
    yield rows, _table(rows) if rows else none


def _assignments(course: Path) -> list[str]:
    folders = [*course.glob("release/*/"), *course.glob("submitted/*/*/"), *course.glob("results/*/")]
    return sorted({folder.name for folder in folders if not folder.name.startswith(".")})


def _row(course: Path, assignment: str) -> dict:
    from autograde.grader.grading.results import load_results
    from autograde.grader.hand_ins.digests import digest

    submitted = sorted(path for path in course.glob(f"submitted/*/{assignment}/*.ipynb") if path.is_file())
    graded = {(result.student, result.notebook): result for result in load_results(course, assignment)}
    outdated = 0
    for path in submitted:
        result = graded.get((path.parent.parent.name, path.stem))
        outdated += bool(result and result.sha256 and result.sha256 != digest(path))
    return {
        "assignment": assignment,
        "submitted": len(submitted),
        "graded": len(graded),
        "outdated": outdated,
        "technical": sum(result.failed_technically for result in graded.values()),
        "feedback": len(list(course.glob(f"feedback/*/{assignment}/*.html"))),
        "due": "",
        "needs_manual_grade": 0,
    }


def _add_gradebook(course: Path, rows: list[dict]) -> None:
    """Due dates and hand grading, which only the gradebook knows."""
    if not (course / "gradebook.db").is_file() or not rows:
        return
    from autograde.grader.book.course import local_time, zone_of
    from autograde.grader.book.gradebook import Gradebook

    zone = zone_of(course)
    with Gradebook(course) as book:
        known = {row["assignment"]: row for row in book.assignments()}
    for row in rows:
        if row["assignment"] in known:
            row["due"] = local_time(known[row["assignment"]]["due"], zone)
            row["needs_manual_grade"] = known[row["assignment"]]["needs_manual_grade"]


_COLUMNS = {"submitted": "notebooks in", "graded": "graded", "outdated": "outdated", "technical": "technical",
            "needs_manual_grade": "wait for you", "feedback": "feedback"}  # fmt: skip


def _table(rows: list[dict]) -> str:
    lines = ["  ".join([f"{'assignment':<16}", *_COLUMNS.values(), "due"])]
    for row in rows:
        counts = [f"{row[column]:>{len(title)}}" for column, title in _COLUMNS.items()]
        lines.append("  ".join([f"{row['assignment']:<16}", *counts, row["due"]]).rstrip())
    return "\n".join(lines)


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
