"""Grades for other programs: CSV for people, CSV as Canvas and Moodle import it, JSON for scripts.

Rows come from `gradebook.Course.grades`. Text that a spreadsheet would read as a formula (=, +, -, @ in front) gets an
apostrophe, because these cells can contain file names chosen by students.
"""

import csv
import io
import json
from collections.abc import Sequence

from autograde.errors import AutogradeError

FORMATS = ("csv", "canvas", "moodle", "json")
_COLUMNS = (
    "assignment", "student", "last_name", "first_name", "email", "submitted", "timestamp", "raw_score", "late_penalty",
    "score", "max_score", "needs_manual_grade",
)  # fmt: skip
_CANVAS_COLUMNS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class ExportError(AutogradeError, ValueError):
    """Grades that cannot be written in the requested format."""


def export(rows: Sequence[dict], form: str, gradebook_csv: str | None = None) -> str:
    """The text of a grade file. form: one of FORMATS.

    gradebook_csv: for Canvas, the text of its own gradebook export: then its rows and ids are kept, and only the
    columns of these assignments are filled in. Raises ExportError.
    """
    if form == "json":
        return json.dumps(rows, indent=1, ensure_ascii=False) + "\n"
    if form == "canvas":
        return _fill_canvas(rows, gradebook_csv) if gradebook_csv is not None else _canvas(rows)
    if form == "moodle":
        return _moodle(rows)
    if form == "csv":
        return _table([_COLUMNS, *([row[column] for column in _COLUMNS] for row in rows)])
    raise ExportError(f"expected a format of {', '.join(FORMATS)}, got {form!r}")


def _table(rows) -> str:
    return _written([_cell(value) for value in row] for row in rows)


def _written(rows) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    return buffer.getvalue()


def _cell(value):
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    text = str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text


def _by_student(rows) -> tuple[list[str], dict[str, dict[str, dict]]]:
    """Assignments in order, and each student's rows by assignment."""
    students: dict[str, dict[str, dict]] = {}
    for row in rows:
        students.setdefault(row["student"], {})[row["assignment"]] = row
    return list(dict.fromkeys(row["assignment"] for row in rows)), students


def _score(row: dict | None):
    """Points, or nothing where nothing was handed in: an empty cell leaves a grade as it is."""
    return row["score"] if row and row["submitted"] else ""


def _canvas(rows) -> str:
    assignments, students = _by_student(rows)
    most = {row["assignment"]: row["max_score"] for row in rows}
    table = [
        [*_CANVAS_COLUMNS, *assignments],
        ["    Points Possible", "", "", "", "", *(most[assignment] for assignment in assignments)],
    ]
    for student, graded in students.items():
        person = next(iter(graded.values()))
        name = ", ".join(part for part in (person["last_name"], person["first_name"]) if part) or student
        scores = [_score(graded.get(assignment)) for assignment in assignments]
        table.append([name, person["lms_user_id"], "", student, "", *scores])
    return _table(table)


def _fill_canvas(rows, text: str) -> str:
    """Canvas's own table with our scores in it; students are found by ID, SIS ids or name."""
    table = list(csv.reader(io.StringIO(text.lstrip("\ufeff"))))
    if not table or not {"Student", "ID"} <= set(table[0]):
        raise ExportError(
            "expected a gradebook of Canvas (Grades > Export) with the columns Student and ID in its first line"
        )
    header, (assignments, students) = table[0], _by_student(rows)
    places = {}
    for assignment in assignments:
        found = [place for place, name in enumerate(header) if name == assignment or name.startswith(f"{assignment} (")]
        if len(found) != 1:
            raise ExportError(f"expected one column {assignment!r} in the Canvas gradebook, found {len(found)}")
        places[assignment] = found[0]
    keys = [header.index(name) for name in ("ID", "SIS User ID", "SIS Login ID", "Student") if name in header]
    known = {}
    for student, graded in students.items():
        person = next(iter(graded.values()))
        for key in (student, person["lms_user_id"], person["email"], f"{person['last_name']}, {person['first_name']}"):
            known[key.strip().casefold()] = graded
    missing = set(students)
    for line in table[1:]:
        line += [""] * (len(header) - len(line))
        cells = [line[key].strip().casefold() for key in keys]
        graded = next((known[cell] for cell in cells if cell and cell in known), None)
        if graded is None:
            continue
        missing.discard(next(iter(graded.values()))["student"])
        for assignment, place in places.items():
            score = _score(graded.get(assignment))
            line[place] = line[place] if score == "" else _cell(score)
    if missing == set(students):
        raise ExportError(
            "expected students of the course in the Canvas gradebook, found none (by ID, SIS ids and name)"
        )
    return _written(table)  # their cells stay as they are


def _moodle(rows) -> str:
    """As Moodle's gradebook imports it (Grades > Import > CSV): mapped by username or e-mail address."""
    assignments, students = _by_student(rows)
    table = [["Username", "First name", "Last name", "Email address", *assignments]]
    for student, graded in students.items():
        person = next(iter(graded.values()))
        scores = [_score(graded.get(assignment)) for assignment in assignments]
        table.append([student, person["first_name"], person["last_name"], person["email"], *scores])
    return _table(table)
