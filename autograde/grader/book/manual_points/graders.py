"""The grader of each part, and the points that graders gave by hand: `.autograde/by_hand/ASSIGNMENT.json`."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from autograde.grader.book.store import Table


@dataclass(frozen=True)
class Given:
    """Points or a comment that a grader gave.

    points: None where they were taken back; cell: the one with the points; alone: whether they are this student's, not
    the group's; place: where they were given, "formgrader" or "" for a sheet or the command line.
    """

    key: str
    grader: str
    time: str
    points: float | None
    comment: str
    cell: str = ""
    alone: bool = False
    place: str = ""

    @property
    def value(self) -> tuple[float | None, str]:
        """Points and comment."""
        return self.points, self.comment


@dataclass
class Shares:
    """The grader of each part, and the points that graders gave, oldest first. Keys are those of `Part`."""

    grader_of: dict[str, str] = field(default_factory=dict)
    given: list[Given] = field(default_factory=list)

    def last(self) -> dict[str, Given]:
        """The last entry about each part."""
        return {one.key: one for one in self.given}

    def alone(self) -> set[tuple[str, str, str]]:
        """(student, notebook, cell) of the points that are one student's, not the group's."""
        return {(*one.key.split("/")[:2], one.cell) for one in self.last().values() if one.alone}

    def without(self, student: str) -> "Shares":
        """Without a student's parts."""
        return Shares(
            {key: grader for key, grader in self.grader_of.items() if key.split("/")[0] != student},
            [one for one in self.given if one.key.split("/")[0] != student],
        )


def _parsed(text: str) -> Shares:
    content = json.loads(text)
    return Shares(content["grader_of"], [Given(**one) for one in content["given"]])


SHARES = Table(
    ".autograde/by_hand/{}.json", "a split among graders", "put a copy of it back",
    parse=_parsed, empty=Shares, text=lambda shares: json.dumps(asdict(shares), indent=1, ensure_ascii=False) + "\n",
    without=lambda shares, student: shares.without(student),
)  # fmt: skip


def record(course: str | Path, assignment: str, given: Iterable[Given]) -> None:
    """Appends to what graders gave. Only for the one writer of the gradebook: others may have entered meanwhile."""
    shares = SHARES.load(course, assignment)
    SHARES.save(Shares(shares.grader_of, [*shares.given, *given]), course, assignment)
