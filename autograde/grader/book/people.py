"""The students of a course: names, and the ids that learning-management systems give them.

`collected/people.json` keeps it: collecting and importing write it, matching and pages read it. A Canvas user id and a
login are a student's in all assignments; Moodle's participant number is one assignment's and is kept in the record of
that hand-in.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from autograde.common.texts import controls
from autograde.grader.book.database import Database
from autograde.grader.book.store import Table

_SUFFIXES = {"jr", "jr.", "sr", "sr.", "junior", "senior", "ii", "iii", "iv", "phd", "md", "esq", "esq."}


@dataclass(frozen=True)
class Known:
    """One student. ids: by system, such as {"canvas": "4711"}."""

    name: str = ""
    email: str = ""
    login: str = ""
    ids: dict[str, str] = field(default_factory=dict)


def _parsed(text: str) -> dict[str, Known]:
    known = {student: Known(**values) for student, values in json.loads(text).items()}
    for student, facts in known.items():
        try:
            f"{student}{facts.name}{facts.email}".encode()
        except UnicodeEncodeError:  # half of a character
            raise ValueError(f"got {facts.name!r} for {student!r}") from None
    return known


PEOPLE = Table(
    "collected/people.json", "the students in whole characters",
    "correct it there, or delete it: collecting and importing write it again", parse=_parsed, empty=dict,
    text=lambda known: json.dumps({name: asdict(one) for name, one in sorted(known.items())}, indent=1) + "\n",
    without=lambda known, student: {name: facts for name, facts in known.items() if name != student},
)  # fmt: skip


class People:
    """The students of a course; `save` writes what `learn` has changed. Of a damaged file nobody is known."""

    def __init__(self, course: str | Path):
        self.course, self.known = Path(course), PEOPLE.load_or_empty(course)

    def __getitem__(self, student: str) -> Known:
        return self.known.get(student, Known())

    def by_id(self, system: str, number: str) -> str | None:
        """The student with this id in a system."""
        return next(
            (student for student, facts in self.known.items() if number and facts.ids.get(system) == number), None
        )

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

    def save(self) -> None:
        if self.known or PEOPLE.path(self.course).exists():
            PEOPLE.save(self.known, self.course)


def namer(course: str | Path) -> Callable[[str], str]:
    """student → "Jane Doe (doejane)" where the name is known, else the id."""
    people, in_book = People(course), _names_in_the_gradebook(Path(course))

    def name(student: str) -> str:
        full = in_book.get(student) or people[student].name
        return f"{full} ({student})" if full and full != student else student

    return name


def _names_in_the_gradebook(course: Path) -> dict[str, str]:
    if not (course / "gradebook.db").is_file():
        return {}
    with Database(course) as opened:
        people = [(one.id, one.first_name, one.last_name) for one in opened.book.students]
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
