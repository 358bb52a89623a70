"""The result of grading one notebook of one student; gradebook, feedback and report are made from these records.

One JSON file each, `results/ASSIGNMENT/STUDENT/NOTEBOOK.json`, written whole or not at all.
"""

import contextlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from autograde.common.errors import AutogradeError
from autograde.judging.verdict import Verdict
from bertlab.common.files import write_text

FOLDER = "results"


class ResultError(AutogradeError, ValueError):
    """A results file that is damaged or of another version."""


@dataclass(frozen=True)
class Result:
    """One notebook, graded.

    verdicts: one for each exercise, in the notebook's order; repairs: sentences about repairs; problem: why the file
    could not be read, for the student; technical: why the grading ended early, for the instructor; handed_in:
    "YYYY-MM-DD HH:MM:SS UTC"; sha256: of the file that was graded; seconds: that grading took; upstream: the student's
    own modules that it was graded on, name → text, and beside: a digest of those handed in with it (see upstream.py);
    untested: sentences about tests that seem to be missing, for the instructor; doubts: why the instructor should look
    at the hand-in; again: whether a sandbox was killed from outside, so that the next `grade` shall grade the file
    again; tries: how often this very file was graded with such an end (see `grade.counted`); variant: the number of the
    student's variant of the questions, 0 where the notebook has none.
    """

    assignment: str
    student: str
    notebook: str
    verdicts: tuple[Verdict, ...] = ()
    repairs: tuple[str, ...] = ()
    problem: str | None = None
    technical: str | None = None
    handed_in: str = ""
    sha256: str = ""
    seconds: float = 0.0
    upstream: dict[str, str] = field(default_factory=dict)
    beside: str = ""
    untested: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    again: bool = False
    tries: int = 0
    variant: int = 0

    @property
    def points(self) -> float:
        return sum(verdict.points for verdict in self.verdicts)

    @property
    def max_points(self) -> float:
        return sum(verdict.max_points for verdict in self.verdicts)

    @property
    def failed_technically(self) -> bool:
        """Whether the points depend on a technical problem instead of the answers."""
        return bool(self.problem or self.technical or any(verdict.status == "technical" for verdict in self.verdicts))

    def path(self, course: str | Path) -> Path:
        return Path(course, FOLDER, self.assignment, self.student, f"{self.notebook}.json")

    def save(self, course: str | Path) -> Path:
        """Writes the record into the course; returns where."""
        path = self.path(course)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, self.to_json())
        return path

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "Result":
        """The inverse of `to_json`."""
        values = json.loads(text)
        verdicts = tuple(Verdict.from_dict(verdict) for verdict in values.pop("verdicts"))
        sentences = {key: tuple(values.get(key, ())) for key in ("repairs", "untested", "doubts")}
        return cls(**values | sentences | {"verdicts": verdicts})

    @classmethod
    def load(cls, path: str | Path) -> "Result":
        """Reads one record. Raises ResultError."""
        try:
            return cls.from_json(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as reason:
            raise ResultError(
                f"{path}: expected the record of a grading ({reason}); delete it and grade again"
            ) from None


def last_result(course: str | Path, of: Result) -> Result | None:
    """The stored record of the same notebook; None also for a damaged one: the file is graded again."""
    path = of.path(course)
    try:
        return Result.load(path) if path.exists() else None
    except ResultError:
        return None


def graded_file(course: str | Path, of: Result) -> str:
    """The SHA-256 of the file in the stored record of the same notebook; empty if no record can be read."""
    last = last_result(course, of)
    return last.sha256 if last else ""


def load_results(course: str | Path, assignment: str) -> Iterator[Result]:
    """All records of an assignment, by student and notebook. Raises ResultError."""
    for path in sorted(Path(course, FOLDER, assignment).glob("*/*.json")):
        yield Result.load(path)


def readable_results(course: str | Path, assignment: str) -> Iterator[Result]:
    """As `load_results`, but skips damaged records instead of raising ResultError."""
    for path in sorted(Path(course, FOLDER, assignment).glob("*/*.json")):
        with contextlib.suppress(ResultError):
            yield Result.load(path)
