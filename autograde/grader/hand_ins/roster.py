"""Tables that an instructor gives with a download: who is which student of the gradebook, and who handed in when.

A row's columns are looked up by kind: a number that a system gives (Canvas's user id) only finds a row by its `id`, a
login only by `login`, `email` or `student`, a name only by `name`. So nobody can call himself another's number.

Times that a download does not tell are in a table that the system writes:

Canvas   the submissions of its API, `/api/v1/courses/C/assignments/A/submissions?per_page=100`, saved as JSON or CSV
Moodle   the grading worksheet (View all submissions > Download grading worksheet)
others   a CSV with a column for the student and a column `time`
"""

import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from pathlib import Path

from autograde.common.delimited import read_records
from autograde.common.errors import InputError
from autograde.grader.hand_ins.platforms import Upload

COLUMNS = ("student", "name", "email", "id", "login", "file")
_MOODLES = "identifier"  # "Participant 90210"
_PARTICIPANT = re.compile(r"^\D+(?=\d+$)")
_NUMBERS = ("user_id", "anonymous_id", _MOODLES, "id")
_STUDENTS = ("student", "login", "username", "sis login id", "user name")
_TIMES = ("submitted_at", "last modified (submission)", "zuletzt geändert (abgabe)", "time", "submitted")
_FORMATS = (
    "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%d %H:%M:%S UTC", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M",
    "%d %B %Y, %I:%M %p", "%d %B %Y, %H:%M", "%d. %B %Y, %H:%M", "%d/%m/%y, %H:%M",
)  # fmt: skip
_GERMAN = {"januar": "January", "februar": "February", "märz": "March", "mai": "May", "juni": "June", "juli": "July",
           "oktober": "October", "dezember": "December"}  # fmt: skip


@dataclass(frozen=True)
class Person:
    """One row. student: the id in the gradebook."""

    student: str
    name: str = ""
    email: str = ""
    id: str = ""
    login: str = ""


class Keys(defaultdict[tuple[str, str], set[str]]):
    """(kind of key, key) → the students who have it."""

    def __init__(self):
        super().__init__(set)

    def add(self, student: str, number: str = "", logins: Iterable[str] = (), names: Iterable[str] = ()) -> None:
        self["number", number.strip()].add(student)
        for login in logins:
            self["login", login.strip().casefold()].add(student)
        for name in names:
            for spelling in spellings(name):
                self["name", spelling].add(student)

    def one(self, kind: str, key: str) -> str | None:
        """The one student with this key; None if there is none, or if there are several."""
        found = self.get((kind, key.strip()), set()) if key.strip() else set()
        return next(iter(found)) if len(found) == 1 else None


@dataclass
class Roster:
    """The table. Look-ups return the student, None if there is none, or if two rows fit."""

    people: dict[str, Person] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    _keys: Keys = field(default_factory=Keys)

    def add(self, person: Person) -> None:
        self.people[person.student] = person
        logins, names = (person.student, person.login, person.email), (person.student, person.name)
        self._keys.add(person.student, person.id, logins, names)
        for name in (*_with_accents(person.student), *_with_accents(person.name)):
            self._keys["accents", name].add(person.student)

    def by_file(self, *paths: str) -> str | None:
        return next((self.files[plain_path(path)] for path in paths if plain_path(path) in self.files), None)

    def by_number(self, number: str) -> str | None:
        return self._keys.one("number", number)

    def numbers_of(self, student: str) -> list[str]:
        """All numbers of a student: one with two accounts has two rows."""
        return [key for kind, key in self._keys if kind == "number" and key and self.by_number(key) == student]

    def by_login(self, login: str) -> str | None:
        return self._keys.one("login", login.casefold())

    def by_name(self, name: str) -> str | None:
        """The student of this name, with its accents or else without: systems leave them out."""
        ways = [("accents", one) for one in _with_accents(name)] + [("name", one) for one in spellings(name)]
        return next((found for way in ways if (found := self._keys.one(*way))), None)

    def other_accents(self, student: str, name: str) -> str:
        """The name in the table, where a name differs from it in accents only; else ""."""
        person = self.people.get(student, Person(""))
        alike, same = (
            set(form(name)) & {*form(person.student), *form(person.name)} for form in (spellings, _with_accents)
        )
        return (person.name or person.student) if alike and not same else ""


def read_roster(rows: Sequence[dict]) -> Roster:
    """From the rows of a CSV with a column `student`, and any of COLUMNS."""
    roster = Roster()
    for row in rows:
        row = {key.strip().lower(): (value or "").strip() for key, value in row.items()}
        student = row.get("student") or row.get("student_id")
        if not student:
            continue
        if row.get("file"):
            roster.files[plain_path(row["file"])] = student
        roster.add(Person(student, *(row.get(column, "") for column in COLUMNS[1:5])))
    return roster


def roster_of(path: Path) -> Roster:
    """Reads a CSV in UTF-8. Raises InputError."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            roster = read_roster(read_records(file.read()))
    except (OSError, ValueError) as reason:
        raise InputError(f"{path}: expected a CSV file in UTF-8 ({reason})") from None
    if not roster.people:
        raise InputError(f"{path}: expected a column `student` with names in it")
    return roster


def plain_path(path: str) -> str:
    """A path that compares equal in another case or another Unicode form."""
    return unicodedata.normalize("NFC", path).casefold().strip()


def spellings(name: str) -> list[str]:
    """The ways in which systems write a person's name, best first: words in any order, and Canvas's "doejane"."""
    plain = unicodedata.normalize("NFKD", name).casefold()
    return _ways("".join(character for character in plain if not unicodedata.combining(character)))


def _with_accents(name: str) -> list[str]:
    return _ways(unicodedata.normalize("NFC", name).casefold())


def _ways(name: str) -> list[str]:
    words = re.findall(r"\w+", name)
    if not words:
        return []
    joined = ["".join(words), "".join(words[-1:] + words[:-1])]
    return list(dict.fromkeys([" ".join(sorted(words)), *joined]))


# --- times ---


@dataclass
class Times:
    """Hand-in times by the system's number of a student, and by the student's id or login."""

    by_number: dict[str, datetime] = field(default_factory=dict)
    by_student: dict[str, datetime] = field(default_factory=dict)

    def of(self, upload: Upload, student: str, alone: bool = True) -> datetime | None:
        """The time by the number, else by the student's id, else, if alone with it, by the name in the entry."""
        if upload.number in self.by_number:
            return self.by_number[upload.number]
        is_a_namesake = student.endswith(f"-{upload.number}")
        names = (student, upload.student) if alone and not is_a_namesake else (student,)
        return next((self.by_student[name.casefold()] for name in names if name.casefold() in self.by_student), None)


def read_times(paths: Sequence[Path], zone: tzinfo = UTC) -> Times:
    """Reads JSON lists or CSVs, such as the pages of a long list. zone: of times without one. Raises InputError."""
    times = Times()
    for path in paths:
        try:
            text = path.read_text(encoding="utf-8-sig")
            rows = json.loads(text) if path.suffix.lower() == ".json" else read_records(text)
            rows = [{str(key).strip().lower(): str(value or "").strip() for key, value in row.items()} for row in rows]
        except (OSError, ValueError, AttributeError) as reason:
            raise InputError(f"{path}: expected a CSV, or a JSON list of Canvas's submissions ({reason})") from None
        head = rows[0] if rows else {}
        time, number, student = (
            next((name for name in names if name in head), None) for names in (_TIMES, _NUMBERS, _STUDENTS)
        )
        if not time or not (number or student):
            raise InputError(
                f"{path}: expected a column of times ({', '.join(_TIMES)}) and one of students ({', '.join(_NUMBERS)}, "
                f"{', '.join(_STUDENTS)}), got {', '.join(head) or 'no rows'}"
            )
        for line, row in enumerate(rows, start=2):
            at = _time(row[time], zone, f"{path} line {line}")
            if at and number and row[number]:
                own = (
                    _PARTICIPANT.sub("", row[number]) if number == _MOODLES else row[number]
                )  # Canvas: "abcD5" is whole
                times.by_number[own] = at
            if at and student and row[student]:
                times.by_student[row[student].casefold()] = at
    return times


def _time(text: str, zone: tzinfo, where: str) -> datetime | None:
    text = re.sub(r"^[^\W\d_]+,\s*", "", text)  # a day of the week in front
    text = re.sub(r"[^\W\d_]+", lambda word: _GERMAN.get(word[0].lower(), word[0]), text)
    if text in ("", "-"):
        return None
    for form in _FORMATS:
        try:
            time = datetime.strptime(text, form)
        except ValueError:
            continue
        in_utc = form.endswith(("Z", "UTC"))
        return (time if time.tzinfo else time.replace(tzinfo=UTC if in_utc else zone)).astimezone(UTC)
    raise InputError(f"{where}: expected a time such as 2026-01-30 12:00:00, got {text!r}")
