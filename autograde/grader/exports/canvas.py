"""Grades in Canvas's own gradebook file.

Follows Canvas's `lib/gradebook_exporter.rb` (commit 0140a2ef) and `lib/gradebook_importer.rb` (00b222d7): a header,
maybe a row of hidden columns, a row "Points Possible", a row per student with Canvas's user id in the column ID. The
importer ignores a grade where the exporter wrote N/A, and in a column that is read only; a grade in place of EX would
undo that the student is excused.
"""

from collections.abc import Sequence

from autograde.common.delimited import read_table
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

_COLUMNS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
_TEST_STUDENT = "Student, Test"
_REFUSED = {
    "EX": "excused (EX)",
    "N/A": "N/A, since it is not assigned to this student or its anonymous grades are not posted",
}


def canvas(rows: Sequence[dict]) -> Filled:
    """A new file; Canvas needs its user ids in it, so a student without one is reported."""
    assignments, students = by_student(rows)
    max_points = {row["assignment"]: row["max_score"] for row in rows}
    lines = [
        [*_COLUMNS, *assignments],
        ["    Points Possible", "", "", "", "", *(max_points[assignment] for assignment in assignments)],
    ]
    missing = []
    for student, graded in students.items():
        one = person(graded)
        name = ", ".join(part for part in (one["last_name"], one["first_name"]) if part) or student
        scores = [score(graded.get(assignment)) for assignment in assignments]
        lines.append([name, one["lms_user_id"], "", one["login"] or student, "", *scores])
        if has_grades(graded) and not one["lms_user_id"]:
            missing.append(named(graded))
    notes = (
        ["give Canvas's own file with --canvas-gradebook (Grades > Export), which has the user ids"] if missing else []
    )
    return Filled(table(lines), without_row=missing, notes=notes)


def fill_canvas(rows: Sequence[dict], text: str, columns: dict[str, str] | None = None) -> Filled:
    """Canvas's own table with our scores in it; all other cells stay. columns: assignment → its name in Canvas."""
    lines, separator = read_table(text)
    header = lines[0] if lines else []
    split = {"LastName", "FirstName"} <= set(header)
    if "ID" not in header or not (split or "Student" in header):
        raise ExportError(
            "expected a gradebook of Canvas (Grades > Export) with the columns Student and ID in its first line"
        )
    assignments, students = by_student(rows)
    indices = {name: _column(header, (columns or {}).get(name, name)) for name in assignments}
    matcher, filled = Matcher(students, "lms_user_id"), Filled("")

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
            read_only = [name for name, index in indices.items() if "read only" in line[index]]
            filled.refused += [f"all students of {name}: read only" for name in read_only]
            filled.notes += _other_points(
                line, {name: indices[name] for name in indices if name not in read_only}, rows
            )
    keys = [
        Keys(value(line, "ID"), (value(line, "SIS User ID"), value(line, "SIS Login ID")), full(line))
        for line in people
    ]
    found = matcher.students(keys)
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
        raise ExportError(
            f"expected one column {name!r} in the Canvas gradebook, found {len(found)}; name it with --column"
        )
    return found[0]


def _other_points(line: list[str], indices: dict[str, int], rows: Sequence[dict]) -> list[str]:
    max_points, notes = {row["assignment"]: row["max_score"] for row in rows}, []
    for name, index in indices.items():
        here, there = max_points[name], line[index].strip()
        if there and there.replace(",", ".") not in (f"{here:.2f}", f"{here:.1f}", f"{here:g}"):
            notes.append(f"{name} has {here:g} points here and {there} in Canvas: grades are points, not percent")
    return notes
