"""The instructor's own table of the class: which person, login, number or file is which student of the gradebook.

A row's columns are looked up by kind: a number that a system gives (Canvas's user id) only finds a row by its `id`, a
login only by `login`, `email` or `student`, a name only by `name`. So nobody can call himself another's number.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograde.common.delimited import read_records
from autograde.common.errors import InputError

COLUMNS = ("student", "name", "email", "id", "login", "file")


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
