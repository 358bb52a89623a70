"""The result of a check: points, reasons and sentences. A `Verdict` is data; `rendering` displays it.

A verdict goes to the student as text or HTML, into the gradebook, and between processes as JSON: `to_dict` and
`from_dict` are each other's inverse.
"""

import dataclasses
from dataclasses import dataclass, field

_TITLES = {"values": "results as expected"}


def title_of_part(name: str) -> str:
    """The name of a part, in words that need no explanation."""
    return _TITLES.get(name, name)


@dataclass(frozen=True)
class PartResult:
    """One part of an exercise: earned, or not and why."""

    name: str
    points: float
    max_points: float
    message: str = ""  # empty when earned

    @property
    def earned(self) -> bool:
        return self.points == self.max_points

    @property
    def title(self) -> str:
        return title_of_part(self.name)


@dataclass(frozen=True)
class Picture:
    """A small matrix of the student's beside the expected one, as nested lists. first: the row and column at which it
    begins; part: the name of its part, where an exercise has several."""

    yours: list
    expected: list
    first: tuple[int, int] = (0, 0)
    part: str = ""


@dataclass(frozen=True)
class Verdict:
    """The outcome of one check of one exercise.

    status: passed, partly, wrong, raised, not attempted, missing, refused, or technical: nothing was graded, and the
    reason is in `technical`.
    facts: (label, text) pairs, "tried", "shape", "values" … in the order to be read; advice: sentences, most important
    first; misconception: the id of the mistake that was recognised.
    """

    exercise: str
    label: str  # "3.4 attention_scores"
    status: str
    points: float
    max_points: float
    parts: tuple[PartResult, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    advice: tuple[str, ...] = ()
    misconception: str | None = None
    seed: str = ""
    picture: Picture | None = None
    technical: str | None = None
    notes: tuple[str, ...] = field(default=())  # harmless observations

    @property
    def passed(self) -> bool:
        return self.status == "passed"

    def to_dict(self) -> dict:
        """JSON-able; the inverse of `from_dict`."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: dict) -> "Verdict":
        """The verdict that `to_dict` wrote, also after a round trip through JSON."""
        picture = Picture(**values["picture"]) if values["picture"] else None
        if picture:
            picture = dataclasses.replace(picture, first=tuple(picture.first))
        return cls(
            **values
            | {
                "parts": tuple(PartResult(**part) for part in values["parts"]),
                "facts": tuple((label, text) for label, text in values["facts"]),
                "advice": tuple(values["advice"]),
                "notes": tuple(values["notes"]),
                "picture": picture,
            }
        )

    def with_advice(self, *sentences: str) -> "Verdict":
        """The same verdict with more advice at its end."""
        return dataclasses.replace(self, advice=self.advice + sentences)

    def __str__(self):
        from autograde.judging.rendering import as_text

        return as_text(self)
