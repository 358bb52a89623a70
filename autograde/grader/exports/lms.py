"""Grades in the files of Canvas and of Moodle: theirs filled in, or new ones for an import.

Canvas: `lib/gradebook_exporter.rb` (commit 0140a2ef) writes and `lib/gradebook_importer.rb` (00b222d7) reads a header,
maybe a row of hidden columns, a row "Points Possible", a row per student with Canvas's user id in the column ID. The
importer ignores a grade where the exporter wrote N/A, and in a column that is read only; a grade in place of EX would
undo that the student is excused.

Moodle: `mod/assign/gradingtable.php` (commit 003699db) writes the worksheet, and
`mod/assign/feedback/offline/importgradeslib.php` (452e36fc, 806e2d49) with `locallib.php` (04975560, 0bd8f1fd) reads
it: a row is found by the number in its first column, "Participant 90210", and a grade above the maximum is skipped
without a word, as is one that cannot be changed and, in the newer of the two, a grade of 0.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter

from autograde.common.delimited import column_of, read_table, value_of
from autograde.common.errors import InputError
from autograde.grader.exports.tables import (
    Filled,
    RowKeys,
    by_student,
    cell,
    has_grades,
    named,
    person,
    score,
    settle,
    students_of,
    table,
    written,
)

_CANVAS_COLUMNS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
_TEST_STUDENT = "Student, Test"
_REFUSED = {
    "EX": "excused (EX)",
    "N/A": "N/A, since it is not assigned to this student or its anonymous grades are not posted",
}

_IDENTIFIER = re.compile(r"\D+(\d+)")
_GRADE, _MAX_GRADE = ("Grade", "Bewertung"), ("Maximum Grade", "Maximum grade", "Bestmögliche Bewertung")
_COMMENTS = ("Feedback comments", "Feedback als Kommentar")
_CHANGEABLE, _NO = ("Grade can be changed", "Bewertung kann geändert werden"), ("No", "Nein")
_NAME, _EMAIL = ("Full name", "Vollständiger Name"), ("Email address", "E-Mail-Adresse")


def _new_file(
    rows: Sequence[dict], header: list[list], facts: Callable[[dict], Sequence], needed: Sequence[str], note: str
) -> Filled:
    """A table for a system's import: a row per student, of facts and scores.

    needed: facts of which the system needs one; students without are reported, and then `note`.
    """
    assignments, students = by_student(rows)
    lines = [
        [*facts(person(graded)), *(score(graded.get(assignment)) for assignment in assignments)]
        for graded in students.values()
    ]
    missing = [
        named(graded)
        for graded in students.values()
        if has_grades(graded) and not any(person(graded)[name] for name in needed)
    ]
    return Filled(table([*header, *lines]), without_row=missing, notes=[note] if missing else [])


def canvas(rows: Sequence[dict]) -> Filled:
    """A new file; Canvas needs its user ids in it, so a student without one is reported."""
    max_points = {row["assignment"]: row["max_score"] for row in rows}
    header = [[*_CANVAS_COLUMNS, *max_points], ["    Points Possible", "", "", "", "", *max_points.values()]]

    def facts(one: dict) -> list[str]:
        name = ", ".join(part for part in (one["last_name"], one["first_name"]) if part) or one["student"]
        return [name, one["lms_user_id"], "", one["login"] or one["student"], ""]

    note = "give Canvas's own file with --canvas-gradebook (Grades > Export), which has the user ids"
    return _new_file(rows, header, facts, ("lms_user_id",), note)


def fill_canvas(rows: Sequence[dict], text: str, columns: dict[str, str] | None = None) -> Filled:
    """Canvas's own table with our scores in it; all other cells stay. columns: assignment → its name in Canvas."""
    lines, separator = read_table(text)
    header = lines[0] if lines else []
    split = {"LastName", "FirstName"} <= set(header)
    if "ID" not in header or not (split or "Student" in header):
        raise InputError(
            "expected a gradebook of Canvas (Grades > Export) with the columns Student and ID in its first line"
        )
    assignments, students = by_student(rows)
    indices = {name: _column(header, (columns or {}).get(name, name)) for name in assignments}
    max_points = {row["assignment"]: row["max_score"] for row in rows}
    filled = Filled("")

    def value(line: list[str], column: str) -> str:
        return line[header.index(column)] if column in header else ""

    def full(line: list[str]) -> str:
        return f"{value(line, 'LastName')}, {value(line, 'FirstName')}" if split else value(line, "Student")

    people = []
    for line in lines[1:]:
        line += [""] * (len(header) - len(line))
        if value(line, "ID").strip():
            people.append(line)
        elif "Points Possible" in "".join(line[:2]):
            for name, index in indices.items():
                here, there = max_points[name], line[index].strip()
                if "read only" in there:
                    filled.refused.append(f"all students of {name}: read only")
                elif there and there.replace(",", ".") not in (f"{here:.2f}", f"{here:.1f}", f"{here:g}"):
                    filled.notes.append(f"{name} has {here:g} points here and {there} in Canvas: grades are points, "
                                        "not percent")  # fmt: skip
    keys = [
        RowKeys(value(line, "ID"), (value(line, "SIS User ID"), value(line, "SIS Login ID")), full(line))
        for line in people
    ]
    found = students_of(keys, students, "lms_user_id")
    for line, student in zip(people, found):
        for assignment, index in indices.items():
            points = score(students[student].get(assignment)) if student else ""
            reason = _REFUSED.get(line[index].strip().upper())
            if points != "" and reason:
                filled.refused.append(f"{named(students[student])}, {assignment}: {reason}")
            elif points != "":
                line[index] = cell(points)
    people_rows = [(key.name, f"ID {key.number}", one) for key, one in zip(keys, found) if key.name != _TEST_STUDENT]
    settle(filled, students, people_rows)
    filled.text = written(lines, separator)
    return filled


def _column(header: list[str], name: str) -> int:
    found = [index for index, title in enumerate(header) if title == name or title.startswith(f"{name} (")]
    if len(found) != 1:
        raise InputError(
            f"expected one column {name!r} in the Canvas gradebook, found {len(found)}; name it with --column"
        )
    return found[0]


def moodle(rows: Sequence[dict]) -> Filled:
    """A CSV file for Grades > Import, mapped by user name or e-mail address; a student without both is reported."""
    header = [["Username", "First name", "Last name", "Email address", *by_student(rows)[0]]]
    note = "fill in Moodle's own worksheet with --moodle-worksheet, or collect with --students class.csv"
    facts = itemgetter("login", "first_name", "last_name", "email")
    return _new_file(rows, header, facts, ("login", "email"), note)


def fill_worksheet(rows: Sequence[dict], text: str, feedback: Mapping[str, str]) -> Filled:
    """Moodle's worksheet of one assignment with grades and feedback (student → HTML) in it; all other cells stay.

    It has commas, as Moodle reads it, also where a spreadsheet has saved it with semicolons.
    """
    lines, _ = read_table(text)
    assignments, students = by_student(rows)
    if len(assignments) != 1:
        raise InputError(f"expected one assignment for a grading worksheet, got {len(assignments)}; name one")
    header = lines[0] if lines else []
    grade, max_grade, comments = (column_of(header, names) for names in (_GRADE, _MAX_GRADE, _COMMENTS))
    numbers = [_IDENTIFIER.fullmatch(line[0].strip()) for line in lines[1:] if line]
    if grade is None or not numbers or not all(numbers):
        raise InputError(
            "expected a grading worksheet of Moodle with 'Participant 90210' in its first column and a column Grade; "
            "switch Moodle to English and download it again (View all submissions > Download grading worksheet)"
        )
    filled, people = Filled(""), [line + [""] * (len(header) - len(line)) for line in lines[1:] if line]
    keys = [
        RowKeys(number[1], (value_of(line, header, _EMAIL),), value_of(line, header, _NAME))
        for line, number in zip(people, numbers)
    ]
    found = students_of(keys, students, "participant")
    nothing = []
    for line, student in zip(people, found):
        if student is None or not has_grades(students[student]):
            continue
        row = students[student][assignments[0]]
        if value_of(line, header, _CHANGEABLE) in _NO:
            filled.refused.append(f"{named(students[student])}: locked or overridden in the gradebook of Moodle")
            continue
        theirs = line[max_grade].replace(",", ".").strip() if max_grade is not None else ""
        if theirs and float(theirs) < row["max_score"]:
            raise InputError(
                f"{row['assignment']} has {row['max_score']:g} points, its maximum grade in Moodle is {theirs}: Moodle "
                f"would skip higher grades. Set the maximum grade to {row['max_score']:g} and download the worksheet "
                "again"
            )
        line[grade] = cell(float(row["score"]))
        if not row["score"]:
            nothing.append(named(students[student]))
        if comments is not None and student in feedback:
            line[comments] = feedback[student]
    if nothing:
        filled.notes.append(
            f"0 points: {', '.join(nothing)}; newer versions of Moodle skip a 0 without a word: look whether they "
            "arrived, else enter them in Moodle"
        )
    if comments is None and feedback:
        filled.notes.append(
            f"the worksheet has no column {_COMMENTS[0]!r}, so no feedback is in it: switch that feedback type on "
            "in the assignment's settings and download it again, or use `autograde feedback --zip moodle`"
        )
    settle(filled, students, [(key.name, line[0], one) for line, key, one in zip(people, keys, found)])
    filled.text = written([header, *people])
    return filled
