"""The students of a course: names, and the ids that learning-management systems give them.

`collected/people.json` keeps it: collecting and importing write it, matching and pages read it. A Canvas user id and a
login are a student's in all assignments; Moodle's participant number is one assignment's and is kept in the record of
that hand-in.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from autograde.common.errors import AutogradeError
from autograde.common.texts import controls
from autograde.grader.hand_ins.roster import Roster
from bertlab.common.files import write_text

FILE = Path("collected", "people.json")
_SUFFIXES = {"jr", "jr.", "sr", "sr.", "junior", "senior", "ii", "iii", "iv", "phd", "md", "esq", "esq."}


class PeopleError(AutogradeError, ValueError):
    """A name that cannot be written: half of a character."""


@dataclass(frozen=True)
class Known:
    """One student. ids: by system, such as {"canvas": "4711"}."""

    name: str = ""
    email: str = ""
    login: str = ""
    ids: dict[str, str] = field(default_factory=dict)


class People:
    """The students of a course; `save` writes what `learn` has changed. Raises PeopleError."""

    def __init__(self, course: str | Path):
        self.path = Path(course) / FILE
        stored = json.loads(self.path.read_text(encoding="utf-8")) if self.path.is_file() else {}
        self.known = {student: Known(**values) for student, values in stored.items()}
        for student, one in self.known.items():
            try:
                f"{student}{one.name}{one.email}".encode()
            except UnicodeEncodeError:
                raise PeopleError(
                    f"{self.path}: expected whole characters, got {one.name!r} for {student!r}; correct it there"
                ) from None

    def __getitem__(self, student: str) -> Known:
        return self.known.get(student, Known())

    def by_id(self, system: str, number: str) -> str | None:
        """The student with this id in a system."""
        return next((student for student, one in self.known.items() if number and one.ids.get(system) == number), None)

    def learn(self, student: str, name: str = "", email: str = "", login: str = "", **ids: str) -> None:
        """Adds facts; an empty value changes nothing. Systems let students choose their names: only text is kept."""
        old, name = self[student], "".join(character for character in name if not controls(character))
        self.known[student] = replace(
            old,
            name=name or old.name,
            email=email or old.email,
            login=login or old.login,
            ids=old.ids | {system: number for system, number in ids.items() if number},
        )

    def learn_roster(self, roster: Roster, students: set[str]) -> None:
        for person in roster.people.values():
            if person.student in students:
                self.learn(person.student, person.name, person.email, person.login)

    def forget(self, student: str) -> bool:
        return self.known.pop(student, None) is not None

    def save(self) -> None:
        text = json.dumps({student: asdict(one) for student, one in sorted(self.known.items())}, indent=1) + "\n"
        if self.known or self.path.exists():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_text(self.path, text)


def namer(course: str | Path) -> Callable[[str], str]:
    """student → "Jane Doe (doejane)" where the name is known, else the id."""
    people = People(course)
    in_book = _names_in_the_gradebook(Path(course))

    def name(student: str) -> str:
        full = in_book.get(student) or people[student].name
        return f"{full} ({student})" if full and full != student else student

    return name


def _names_in_the_gradebook(course: Path) -> dict[str, str]:
    if not (course / "gradebook.db").is_file():
        return {}
    from autograde.grader.book.gradebook import Course

    with Course(course) as book:
        people = [(one.id, one.first_name, one.last_name) for one in book.book.students]
    return {student: " ".join(part for part in names if part) for student, *names in people}


def known_students(course: str | Path) -> set[str]:
    """Whom a course knows: from downloads and lists, the gradebook, or a hand-in."""
    handed_in = {path.parent.name for path in Path(course).glob("submitted/*/*") if path.is_dir()}
    return {*People(course).known, *_names_in_the_gradebook(Path(course)), *handed_in}


def two_names(name: str) -> tuple[str, str]:
    """(last, first) of "Doe, Jane", "Jane Doe", "Doe, Jane, Jr." or "Jane Doe, Jr.": a suffix belongs to the last.

    So do small words before it: "Anna van der Berg".
    """
    parts = [part.strip() for part in name.split(",") if part.strip()]
    words = parts[-1].split() if parts else []
    suffix = ""
    if len(parts) > 1 and parts[-1].casefold() in _SUFFIXES:
        suffix = f" {parts.pop()}"
    elif len(parts) == 1 and len(words) > 2 and words[-1].casefold() in _SUFFIXES:
        suffix, parts = f" {words[-1]}", [" ".join(words[:-1])]
    if len(parts) > 1:
        last, first = parts[0], " ".join(parts[1:])
    else:
        words = (parts or [""])[0].split()
        index = len(words) - 1
        while index > 1 and words[-1][0].isupper() and words[index - 1].islower():
            index -= 1
        first, last = " ".join(words[:index]), " ".join(words[index:])
    return f"{last}{suffix}", first
