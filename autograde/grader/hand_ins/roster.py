"""The instructor's own table of the class: which person, login, number or file is which student of the gradebook.

A row's columns are looked up by kind: a number that a system gives (Canvas's user id) only finds a row by its `id`, a
login only by `login`, `email` or `student`, a name only by `name`. So nobody can call himself another's number.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograde.common.delimited import TableError, read_records
from autograde.common.errors import AutogradeError

COLUMNS = ("student", "name", "email", "id", "login", "file")


class RosterError(AutogradeError, ValueError):
    """A table of the class that cannot be read."""


@dataclass(frozen=True)
class Person:
    """One row. student: the id in the gradebook."""

    student: str
    name: str = ""
    email: str = ""
    id: str = ""
    login: str = ""


@dataclass
class Roster:
    """The table. Look-ups return the student, None if there is none, or if two rows fit."""

    people: dict[str, Person] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    _found: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))

    def add(self, person: Person) -> None:
        self.people[person.student] = person
        self._found["id", person.id.strip()].add(person.student)
        for login in (person.student, person.login, person.email):
            self._found["login", login.strip().casefold()].add(person.student)
        for name in (*spellings(person.student), *spellings(person.name)):
            self._found["name", name].add(person.student)
        for name in (*_with_accents(person.student), *_with_accents(person.name)):
            self._found["accents", name].add(person.student)

    def by_file(self, *paths: str) -> str | None:
        return next((self.files[plain_path(path)] for path in paths if plain_path(path) in self.files), None)

    def by_number(self, number: str) -> str | None:
        return self._one("id", number)

    def numbers_of(self, student: str) -> list[str]:
        """All numbers of a student: one with two accounts has two rows."""
        return [key for kind, key in self._found if kind == "id" and key and self.by_number(key) == student]

    def by_login(self, login: str) -> str | None:
        return self._one("login", login.casefold())

    def by_name(self, name: str) -> str | None:
        """The student of this name, with its accents or else without: systems leave them out."""
        ways = [("accents", one) for one in _with_accents(name)] + [("name", one) for one in spellings(name)]
        return next((found for way in ways if (found := self._one(*way))), None)

    def other_accents(self, student: str, name: str) -> str:
        """The name in the table, where a name differs from it in accents only; else ""."""
        person = self.people.get(student, Person(""))
        alike, same = (
            set(form(name)) & {*form(person.student), *form(person.name)} for form in (spellings, _with_accents)
        )
        return (person.name or person.student) if alike and not same else ""

    def _one(self, kind: str, key: str) -> str | None:
        found = self._found.get((kind, key.strip()), set()) if key.strip() else set()
        return next(iter(found)) if len(found) == 1 else None


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
    """Reads a CSV in UTF-8. Raises RosterError."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            roster = read_roster(read_records(file.read()))
    except (OSError, UnicodeDecodeError, TableError) as reason:
        raise RosterError(f"{path}: expected a CSV file in UTF-8 ({reason})") from None
    if not roster.people:
        raise RosterError(f"{path}: expected a column `student` with names in it")
    return roster


def plain_path(path: str) -> str:
    """A path that compares equal in another case or another Unicode form."""
    return unicodedata.normalize("NFC", path).casefold().strip()


def spellings(name: str) -> list[str]:
    """The ways in which systems write a person's name, best first: words in any order, and Canvas's "doejane"."""
    return _ways(_plain(name))


def _with_accents(name: str) -> list[str]:
    """The same with accents."""
    return _ways(unicodedata.normalize("NFC", name).casefold())


def _ways(name: str) -> list[str]:
    words = re.findall(r"\w+", name)
    if not words:
        return []
    joined = ["".join(words), "".join(words[-1:] + words[:-1])]
    return list(dict.fromkeys([" ".join(sorted(words)), *joined]))


def _plain(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).casefold()
    return "".join(character for character in plain if not unicodedata.combining(character))
