"""Grades and feedback for Moodle: its grading worksheet filled in, or a file for the import of its gradebook.

Follows `mod/assign/gradingtable.php` (commit 003699db), which writes the worksheet, and
`mod/assign/feedback/offline/importgradeslib.php` (452e36fc, 806e2d49) with `locallib.php` (04975560, 0bd8f1fd), which
reads it: a row is found by the number in its first column, "Participant 90210", and a grade above the maximum is
skipped without a word, as is one that cannot be changed and, in the newer of the two, a grade of 0.
"""

import re
from collections.abc import Mapping, Sequence

from autograde.common.delimited import column_of, read_table, value_of
from autograde.grader.exports.tables import (
    ExportError,
    Filled,
    Keys,
    Matcher,
    by_student,
    cell,
    has_grades,
    named,
    person,
    score,
    settle,
    table,
    written,
)

_IDENTIFIER = re.compile(r"\D+(\d+)")
_GRADE, _MAX_GRADE = ("Grade", "Bewertung"), ("Maximum Grade", "Maximum grade", "Bestmögliche Bewertung")
_COMMENTS = ("Feedback comments", "Feedback als Kommentar")
_CHANGEABLE, _NO = ("Grade can be changed", "Bewertung kann geändert werden"), ("No", "Nein")
_NAME, _EMAIL = ("Full name", "Vollständiger Name"), ("Email address", "E-Mail-Adresse")


def moodle(rows: Sequence[dict]) -> Filled:
    """A CSV file for Grades > Import, mapped by user name or e-mail address; a student without both is reported."""
    assignments, students = by_student(rows)
    lines: list[list] = [["Username", "First name", "Last name", "Email address", *assignments]]
    missing = []
    for graded in students.values():
        one = person(graded)
        scores = [score(graded.get(assignment)) for assignment in assignments]
        lines.append([one["login"], one["first_name"], one["last_name"], one["email"], *scores])
        if has_grades(graded) and not (one["login"] or one["email"]):
            missing.append(named(graded))
    notes = ["fill in Moodle's own worksheet with --moodle-worksheet, or collect with --students class.csv"]
    return Filled(table(lines), without_row=missing, notes=notes if missing else [])


def fill_worksheet(rows: Sequence[dict], text: str, feedback: Mapping[str, str]) -> Filled:
    """Moodle's worksheet of one assignment with grades and feedback in it; all other cells stay.

    It has commas, as Moodle reads it, also where a spreadsheet has saved it with semicolons.

    feedback: student → HTML for the column of comments, if the worksheet has one.
    """
    lines, _ = read_table(text)
    assignments, students = by_student(rows)
    if len(assignments) != 1:
        raise ExportError(f"expected one assignment for a grading worksheet, got {len(assignments)}; name one")
    header = lines[0] if lines else []
    grade, max_grade, comments = (column_of(header, names) for names in (_GRADE, _MAX_GRADE, _COMMENTS))
    numbers = [_IDENTIFIER.fullmatch(line[0].strip()) for line in lines[1:] if line]
    if grade is None or not numbers or not all(numbers):
        raise ExportError(
            "expected a grading worksheet of Moodle with 'Participant 90210' in its first column and a column Grade; "
            "switch Moodle to English and download it again (View all submissions > Download grading worksheet)"
        )
    filled, people = Filled(""), [line + [""] * (len(header) - len(line)) for line in lines[1:] if line]
    keys = [
        Keys(number[1], (value_of(line, header, _EMAIL),), value_of(line, header, _NAME))
        for line, number in zip(people, numbers)
    ]
    found = Matcher(students, "participant").students(keys)
    nothing = []
    for line, student in zip(people, found):
        if student is None or not has_grades(students[student]):
            continue
        row = students[student][assignments[0]]
        if value_of(line, header, _CHANGEABLE) in _NO:
            filled.refused.append(f"{named(students[student])}: locked or overridden in the gradebook of Moodle")
            continue
        _check_maximum(line, max_grade, row)
        line[grade] = cell(float(row["score"]))
        if not row["score"]:
            nothing.append(named(students[student]))
        if comments is not None and student in feedback:
            line[comments] = feedback[student]
    filled.notes += _notes(nothing, comments is None and bool(feedback))
    settle(filled, students, [(key.name, line[0], one) for line, key, one in zip(people, keys, found)])
    filled.text = written([header, *people])
    return filled


def _notes(nothing: list[str], without_comments: bool) -> list[str]:
    notes = []
    if nothing:
        notes.append(
            f"0 points: {', '.join(nothing)}; newer versions of Moodle skip a 0 without a word: look whether they "
            "arrived, else enter them in Moodle"
        )
    if without_comments:
        notes.append(
            f"the worksheet has no column {_COMMENTS[0]!r}, so no feedback is in it: switch that feedback type on "
            "in the assignment's settings and download it again, or use `autograde feedback --zip moodle`"
        )
    return notes


def _check_maximum(line: list[str], column: int | None, row: dict) -> None:
    max_grade = line[column].replace(",", ".").strip() if column is not None else ""
    if max_grade and float(max_grade) < row["max_score"]:
        raise ExportError(
            f"{row['assignment']} has {row['max_score']:g} points, its maximum grade in Moodle is {max_grade}: Moodle "
            f"would skip higher grades. Set the maximum grade to {row['max_score']:g} and download the worksheet again"
        )
