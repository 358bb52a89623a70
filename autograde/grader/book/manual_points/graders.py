"""The grader of each part, and the points that graders gave by hand: `.autograde/by_hand/ASSIGNMENT.json`."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from autograde.common.errors import AutogradeError
from bertlab.common.files import write_text

FOLDER = Path(".autograde", "by_hand")


class SheetError(AutogradeError, ValueError):
    """A sheet or the list of graders that cannot be written or read."""


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

    def save(self, course: str | Path, assignment: str) -> None:
        path = Path(course, FOLDER, f"{assignment}.json")
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_text(path, json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n")


def read_shares(course: str | Path, assignment: str) -> Shares:
    """The split of an assignment; an empty one if there is none. Raises SheetError."""
    path = Path(course, FOLDER, f"{assignment}.json")
    if not path.is_file():
        return Shares()
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return Shares(content["grader_of"], [Given(**one) for one in content["given"]])
    except (OSError, ValueError, KeyError, TypeError) as reason:
        raise SheetError(f"{path}: expected a split among graders ({reason}); put a copy of it back") from None


def record(course: str | Path, assignment: str, given: Iterable[Given]) -> None:
    """Appends to what graders gave. Only for the one writer of the gradebook: others may have entered meanwhile."""
    shares = read_shares(course, assignment)
    Shares(shares.grader_of, [*shares.given, *given]).save(course, assignment)
