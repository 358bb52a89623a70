"""Grades for other programs: CSV for people, JSON for scripts, and the files of Canvas and of Moodle.

Canvas: `lib/gradebook_exporter.rb` (commit 0140a2ef) writes and `lib/gradebook_importer.rb` (00b222d7) reads a header,
maybe a row of hidden columns, a row "Points Possible", a row per student with Canvas's user id in the column ID. The
importer ignores a grade where the exporter wrote N/A, and in a column that is read only; a grade in place of EX would
undo that the student is excused.

Moodle: `mod/assign/gradingtable.php` (commit 003699db) writes the worksheet, and
`mod/assign/feedback/offline/importgradeslib.php` (452e36fc, 806e2d49) with `locallib.php` (04975560, 0bd8f1fd) reads
it: a row is found by the number in its first column, "Participant 90210", and a grade above the maximum is skipped
without a word, as is one that cannot be changed and, in the newer of the two, a grade of 0.

Rows come from `gradebook.Gradebook.grades`, with late penalties computed again.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from pathlib import Path

from autograde.common.delimited import column_of, read_table, value_of
from autograde.common.errors import InputError
from autograde.grader.book.course import in_utc
from autograde.grader.book.people import two_names
from autograde.grader.exports.tables import cell, table, written
from autograde.grader.hand_ins.roster import Keys, spellings

FORMATS = ("csv", "canvas", "moodle", "json")
_COLUMNS = (
    "assignment", "student", "last_name", "first_name", "email", "submitted", "timestamp", "late", "raw_score",
    "late_penalty", "score", "max_score", "needs_manual_grade",
)  # fmt: skip
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


@dataclass
class Filled:
    """A grade file.

    without_row: graded students that it has no row for; without_student: its rows of people whom the course does not
    know; without_grade: its rows of students who handed nothing in; refused: graded students whose cells stay as they
    are, because the system takes no grade there, each with the reason; notes: sentences about the rest; names: student
    → the person's name in the file.
    """

    text: str
    without_row: list[str] = field(default_factory=list)
    without_student: list[str] = field(default_factory=list)
    without_grade: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        return not (self.without_row or self.without_student or self.refused)


def export(
    rows: Sequence[dict],
    form: str,
    theirs: str | None = None,
    columns: Mapping[str, str] | None = None,
    feedback: Mapping[str, str] | None = None,
) -> Filled:
    """A grade file. form: one of FORMATS.

    theirs: the text of Canvas's gradebook export or of Moodle's grading worksheet: then its rows and ids are kept, and
    only grades (for Moodle also feedback) are filled in. columns: assignment → its column in Canvas.
    Raises InputError.
    """
    if form == "json":
        return Filled(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
    if form == "csv":
        return Filled(table([_COLUMNS, *([row[column] for column in _COLUMNS] for row in rows)]))
    if theirs is None:
        return new_file(rows, form)
    if form == "canvas":
        return fill_canvas(rows, theirs, columns or {})
    return fill_worksheet(rows, theirs, feedback or {})


def must_be_graded(rows: Sequence[dict], named: Sequence[str]) -> list[dict]:
    """The rows of graded assignments: for files that a system imports.

    named: assignments that were asked for. Raises InputError if one of them, or all, have no grade at all.
    """
    graded = _graded(rows)
    for name in named or ([] if graded else ["the course"]):
        if name not in graded:
            raise InputError(f"{name}: nothing is graded yet; run `autograde grade` first")
    return [row for row in rows if row["assignment"] in graded]


def still_open(course: Path, rows: Sequence[dict]) -> list[str]:
    """Sentences about hand-ins to graded assignments that have no grade, or none that is final."""
    notes = []
    for name in sorted(_graded(rows)):
        there = {row["student"] for row in rows if row["assignment"] == name and row["submitted"]}
        waiting = {path.parent.name for path in course.glob(f"submitted/*/{name}") if path.is_dir()} - there
        if waiting:
            notes.append(
                f"{name}: handed in and not graded: {', '.join(sorted(waiting))}; run `autograde grade {name}`"
            )
        by_hand = [row["student"] for row in rows if row["assignment"] == name and row["needs_manual_grade"]]
        if by_hand:
            notes.append(f"{name}: {len(by_hand)} wait for points by hand; their grades are not final")
    return notes


def _graded(rows: Sequence[dict]) -> set[str]:
    return {row["assignment"] for row in rows if row["submitted"]}


def in_zone(rows: Sequence[dict], zone: tzinfo) -> list[dict]:
    """The rows with times in the course's zone: "2026-01-30 13:00:00+01:00"."""

    def shown(time: str) -> str:
        return in_utc(time).astimezone(zone).isoformat(" ", "seconds") if time else ""

    return [row | {"timestamp": shown(row["timestamp"])} for row in rows]


# --- Canvas and Moodle ---


def new_file(rows: Sequence[dict], form: str) -> Filled:
    """A table for an import: a row per student; one who lacks what the system finds students by is reported.

    Canvas needs its user ids; Moodle's Grades > Import can map a user name or an e-mail address.
    """
    assignments, students = by_student(rows)
    if form == "canvas":
        max_points = {row["assignment"]: row["max_score"] for row in rows}
        lines = [[*_CANVAS_COLUMNS, *max_points], ["    Points Possible", "", "", "", "", *max_points.values()]]
        needed = ("lms_user_id",)
        note = "give Canvas's own file with --canvas-gradebook (Grades > Export), which has the user ids"
    else:
        lines = [["Username", "First name", "Last name", "Email address", *assignments]]
        needed = ("login", "email")
        note = "fill in Moodle's own worksheet with --moodle-worksheet, or collect with --students class.csv"
    missing = []
    for graded in students.values():
        one = person(graded)
        facts = [one[key] for key in ("login", "first_name", "last_name", "email")]
        if form == "canvas":
            name = ", ".join(part for part in (one["last_name"], one["first_name"]) if part) or one["student"]
            facts = [name, one["lms_user_id"], "", one["login"] or one["student"], ""]
        lines.append([*facts, *(score(graded.get(assignment)) for assignment in assignments)])
        if has_grades(graded) and not any(one[key] for key in needed):
            missing.append(named(graded))
    return Filled(table(lines), without_row=missing, notes=[note] if missing else [])


def fill_canvas(rows: Sequence[dict], text: str, columns: Mapping[str, str]) -> Filled:
    """Canvas's own table with our scores in it; all other cells stay. columns: assignment → its name in Canvas."""
    lines, separator = read_table(text)
    header = lines[0] if lines else []
    split = {"LastName", "FirstName"} <= set(header)
    if "ID" not in header or not (split or "Student" in header):
        raise InputError(
            "expected a gradebook of Canvas (Grades > Export) with the columns Student and ID in its first line"
        )
    assignments, students = by_student(rows)
    indices = {name: _column(header, columns.get(name, name)) for name in assignments}
    max_points = {row["assignment"]: row["max_score"] for row in rows}
    filled, people, keys = Filled(""), [], []
    for line in lines[1:]:
        line += [""] * (len(header) - len(line))
        cells = defaultdict(str, zip(header, map(str.strip, line)))
        if cells["ID"]:
            name = f"{cells['LastName']}, {cells['FirstName']}" if split else cells["Student"]
            logins = cells["SIS User ID"], cells["SIS Login ID"]
            people.append(line)
            keys.append(RowKeys(f"ID {cells['ID']}", cells["ID"], logins, name))
        elif "Points Possible" in "".join(line[:2]):
            for name, index in indices.items():
                here, there = max_points[name], line[index].strip()
                if "read only" in there:
                    filled.refused.append(f"all students of {name}: read only")
                elif there and there.replace(",", ".") not in (f"{here:.2f}", f"{here:.1f}", f"{here:g}"):
                    filled.notes.append(f"{name} has {here:g} points here and {there} in Canvas: grades are points, "
                                        "not percent")  # fmt: skip
    found = students_of(keys, students, "lms_user_id")
    for line, student in zip(people, found):
        for assignment, index in indices.items():
            points = score(students[student].get(assignment)) if student else ""
            reason = _REFUSED.get(line[index].strip().upper())
            if points != "" and reason:
                filled.refused.append(f"{named(students[student])}, {assignment}: {reason}")
            elif points != "":
                line[index] = cell(points)
    settle(filled, students, [(key, one) for key, one in zip(keys, found) if key.name != _TEST_STUDENT])
    filled.text = written(lines, separator)
    return filled


def _column(header: list[str], name: str) -> int:
    found = [index for index, title in enumerate(header) if title == name or title.startswith(f"{name} (")]
    if len(found) != 1:
        raise InputError(
            f"expected one column {name!r} in the Canvas gradebook, found {len(found)}; name it with --column"
        )
    return found[0]


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
        RowKeys(line[0], number[1], (value_of(line, header, _EMAIL),), value_of(line, header, _NAME))
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
    settle(filled, students, list(zip(keys, found)))
    filled.text = written([header, *people])
    return filled


# --- whose row ---


def by_student(rows: Sequence[dict]) -> tuple[list[str], dict[str, dict[str, dict]]]:
    """Assignments in order, and each student's rows by assignment."""
    students: dict[str, dict[str, dict]] = {}
    for row in rows:
        students.setdefault(row["student"], {})[row["assignment"]] = row
    return list(dict.fromkeys(row["assignment"] for row in rows)), students


def person(graded: dict[str, dict]) -> dict:
    """The facts about a student, which are the same in all of the student's rows."""
    return next(iter(graded.values()))


def score(row: dict | None):
    """Points, or nothing where nothing was handed in: an empty cell leaves a grade as it is."""
    return row["score"] if row and row["submitted"] else ""


def has_grades(graded: dict[str, dict]) -> bool:
    return any(row["submitted"] for row in graded.values())


@dataclass(frozen=True)
class RowKeys:
    """The cells of a row by which a student can be found. title: the row in a message."""

    title: str
    number: str
    logins: tuple[str, ...]
    name: str


def students_of(rows: Sequence[RowKeys], students: dict[str, dict[str, dict]], number: str) -> list[str | None]:
    """The student of each row: by the first kind of key that both have, and only if one student has this value.

    number: the name of the number's fact. A student whose number is known is found by it alone: a namesake's row must
    not get the grade. Of two rows that fit one student by login or name alone, neither counts.
    """
    keys = Keys()
    for student, graded in students.items():
        one = person(graded)
        if one[number]:
            keys.add(student, one[number])
        else:
            keys.add(student, "", (one["login"], one["email"], student), (one["name"], student))
    found = []
    for row in rows:
        ways = [("number", row.number), *(("login", login.casefold()) for login in row.logins)]
        ways += [("name", spelling) for spelling in spellings(row.name)]
        found.append(next((student for way in ways if (student := keys.one(*way))), None))
    times = Counter(found)
    return [
        student if times[student] == 1 or keys.one("number", row.number) == student else None
        for student, row in zip(found, rows)
    ]


def settle(filled: Filled, students: dict[str, dict[str, dict]], rows: Sequence[tuple[RowKeys, str | None]]) -> None:
    """Lists what does not fit. rows: with the student of each, or None."""
    for row, student in rows:
        title = f"{row.name.strip()} ({row.title})"
        if student is None:
            filled.without_student.append(title)
        elif not has_grades(students[student]):
            filled.without_grade.append(title)
        if student is not None and row.name.strip():
            filled.names[student] = " ".join(part for part in reversed(two_names(row.name)) if part)
    seen = {student for _, student in rows}
    filled.without_row = [
        named(graded) for student, graded in students.items() if has_grades(graded) and student not in seen
    ]


def named(graded: dict[str, dict]) -> str:
    """A student in a message: "Jane Doe (doejane)"."""
    one = person(graded)
    return f"{one['name']} ({one['student']})" if one["name"] not in ("", one["student"]) else one["student"]
