"""`autograde export`: grades for other programs."""

from pathlib import Path

import click

from autograde.cli.options import (
    COURSE,
    FILE_THERE,
    gradebook_of,
    read_table,
    require_assignments,
    templates_of,
    zone_of_course,
)
from autograde.common.texts import one_line
from autograde.grader.book.people import People
from autograde.grader.exports import grades
from bertlab.cli.from_signature import FILE, FOLDER, command, option
from bertlab.common.files import write_text

_LISTED = 20


@command()
def export(
    assignments: tuple[str, ...] = (),
    *,
    course: FOLDER = COURSE,
    form: str | None = option(None, "Write this format (default: csv).", "--format", choices=grades.FORMATS),
    canvas_gradebook: FILE_THERE = option(
        None, "Fill in Canvas's own export (Grades > Export); keeps its rows and ids."
    ),
    moodle_worksheet: FILE_THERE = option(
        None, "Fill in Moodle's grading worksheet: grade and feedback; keeps its rows."
    ),
    columns: tuple[str, ...] = option(
        (), "The assignment's column in Canvas, where it has another name; repeat for more.", "--column",
        metavar="ASSIGNMENT=NAME",
    ),
    timezone: str | None = option(None, "Time zone of the times (default: the course's).", callback=zone_of_course),
    path: FILE = option(None, "Write to this file instead of standard output.", "--to"),
):  # fmt: skip
    """Export the grades of ASSIGNMENTS (default: all), after late penalties, which are computed again.

    \b
    Example:
      autograde export --course course > grades.csv
      autograde export ps3 --format canvas --canvas-gradebook Grades.csv --to import.csv
      autograde export ps3 --format moodle --moodle-worksheet Grades-ps3.csv --to import.csv

    A student is found in a table of Canvas or Moodle by the number in the file that was collected, else by login,
    e-mail or name. Exit code 1: a graded student has no row, a row has no student, or the system takes no grade in it
    (excused, not assigned, locked); all of them are listed.
    """
    form = _checked_format(form, canvas_gradebook, moodle_worksheet, columns)
    theirs = canvas_gradebook or moodle_worksheet
    rows, notes = _rows(course, assignments, form, timezone)
    feedback = _feedback(course, rows) if moodle_worksheet else None
    filled = grades.export(rows, form, read_table(theirs) if theirs else None, _columns(columns), feedback)
    people = People(course)
    for student, name in filled.names.items():
        people.learn(student, name=people[student].name or name)
    people.save()
    if path:
        write_text(path, filled.text)
    else:
        click.echo(filled.text, nl=False)
    for line in _messages(filled, notes):
        click.echo(one_line(line), err=True)  # names in a table of another system
    if not filled.is_complete:
        raise SystemExit(1)


def _checked_format(form: str | None, canvas_gradebook, moodle_worksheet, columns) -> str:
    """The format; of a table that is filled in, that of its system. Raises UsageError where an option has no effect."""
    if canvas_gradebook and moodle_worksheet:
        raise click.UsageError("expected --canvas-gradebook or --moodle-worksheet, not both")
    if columns and not canvas_gradebook:
        raise click.UsageError("--column names a column of Canvas's gradebook; name its file with --canvas-gradebook")
    system = "canvas" if canvas_gradebook else "moodle" if moodle_worksheet else None
    if system and form not in (None, system):
        raise click.UsageError(f"expected --format {system} or none with this table, got {form}")
    return system or form or "csv"


def _rows(course: Path, assignments, form: str, zone) -> tuple[list[dict], list[str]]:
    with gradebook_of(course) as book:
        require_assignments(book, course, sorted(assignments))
        book.write_late_penalties()
        rows = grades.in_zone(book.grades(assignments), zone)
    if form in ("canvas", "moodle"):
        rows = grades.must_be_graded(rows, assignments)
    return rows, grades.still_open(course, rows)


def _columns(pairs) -> dict[str, str]:
    wrong = next((pair for pair in pairs if "=" not in pair), None)
    if wrong is not None:
        raise click.BadParameter(f"expected ASSIGNMENT=NAME, got {wrong!r}")
    return dict(pair.split("=", 1) for pair in pairs)


def _feedback(course: Path, rows: list[dict]) -> dict[str, str]:
    from autograde.grader.exports.feedback_texts import feedback_html

    assignment = rows[0]["assignment"]
    return feedback_html(course, assignment, templates_of(course, assignment))


def _messages(filled, notes) -> list[str]:
    lists = (
        ("graded and without a row", filled.without_row),
        ("rows without a student of the course", filled.without_student),
        ("graded, and left as they are because the system takes no grade there", filled.refused),
        ("rows of students who handed nothing in, left as they are", filled.without_grade),
    )
    lines = []
    for title, names in lists:
        if names:
            lines.append(f"{len(names)} {title}:")
            lines += [f"  {name}" for name in names[:_LISTED]]
            lines += [f"  … and {len(names) - _LISTED} more"] if len(names) > _LISTED else []
    return [*lines, *(f"note: {note}" for note in (*notes, *filled.notes))]
