"""Tables that other programs read: CSV with the separator of the system, and grades matched to its rows.

Text that a spreadsheet would read as a formula (=, +, -, @ in front) gets an apostrophe, because these cells can
contain names and answers of students; so does such text behind a separator of another country's spreadsheet, where the
cell would be taken apart, and in a new line, which would then be a new row.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from autograde.grader.book.people import two_names
from autograde.grader.hand_ins.roster import Keys, spellings

_FORMULA = re.compile(r'"*[=+@\t\r-]')  # in quotes, too: a spreadsheet may take the quotes as its own
_BEHIND_A_SEPARATOR = re.compile(r'([;\t\n\r] *)(?="*[=+@-])')
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_ESCAPED = re.compile(r"""([;\t\n\r] *)'(?="*[=+@-])""")


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


def written(rows: Iterable[Sequence[object]], separator: str = ",") -> str:
    """A CSV without characters that steer a terminal, which names in another system's table can have."""
    plain_rows = ([_CONTROLS.sub("", value) if isinstance(value, str) else value for value in row] for row in rows)
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n", delimiter=separator).writerows(plain_rows)
    return buffer.getvalue()


def table(rows: Iterable[Sequence[object]]) -> str:
    """A CSV of our own cells."""
    return written([cell(value) for value in row] for row in rows)


def cell(value) -> object:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    text = _BEHIND_A_SEPARATOR.sub(r"\1'", str(value))
    return f"'{text}" if _FORMULA.match(text) else text


def plain(text: str) -> str:
    """The text of a cell that `cell` wrote and a spreadsheet may have saved again."""
    text = _ESCAPED.sub(r"\1", text.replace("\r\n", "\n").strip())
    return text[1:] if text.startswith("'") and _FORMULA.match(text[1:]) else text


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
    """The cells of a row by which a student can be found."""

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


def settle(filled: Filled, students: dict[str, dict[str, dict]], rows: Sequence[tuple[str, str, str | None]]) -> None:
    """Lists what does not fit. rows: (name of the person, number in the row, its student or None)."""
    for name, number, student in rows:
        title = f"{name.strip()} ({number})"
        if student is None:
            filled.without_student.append(title)
        elif not has_grades(students[student]):
            filled.without_grade.append(title)
        if student is not None and name.strip():
            filled.names[student] = " ".join(part for part in reversed(two_names(name)) if part)
    seen = {student for *_, student in rows}
    filled.without_row = [
        named(graded) for student, graded in students.items() if has_grades(graded) and student not in seen
    ]


def named(graded: dict[str, dict]) -> str:
    """A student in a message: "Jane Doe (doejane)"."""
    one = person(graded)
    return f"{one['name']} ({one['student']})" if one["name"] not in ("", one["student"]) else one["student"]
