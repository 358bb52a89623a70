"""The feedback page of a student: points, right and wrong parts, and advice.

A hidden check stays hidden: the page shows only the parts, the advice and the notes of a verdict, never inputs,
expected values, seeds or pictures.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from autograde.grader.pages import render
from autograde.grader.results import Result
from autograde.verdict import Verdict
from bertlab.files import write_text

_STATUS_TEXTS = {
    "passed": "right",
    "partly": "partly right",
    "wrong": "not yet right",
    "raised": "stopped with an error",
    "refused": "not counted",
    "missing": "not found in your notebook",
    "not attempted": "not attempted",
    "technical": "could not be graded",
}


@dataclass(frozen=True)
class ByHand:
    """Points and comment given by a human. points: replace the automatic ones; None keeps those."""

    points: float | None = None
    comment: str = ""


@dataclass(frozen=True)
class _ExerciseView:
    verdict: Verdict
    by_hand: ByHand | None

    @property
    def points(self) -> float:
        return self.verdict.points if self.by_hand is None or self.by_hand.points is None else self.by_hand.points

    @property
    def look(self) -> str:
        status = self.verdict.status
        return status if status in ("passed", "partly") else "open" if status == "not attempted" else "lost"

    @property
    def number(self) -> str:
        return self.verdict.label.split(" ")[0][:12]

    @property
    def words(self) -> str:
        return _STATUS_TEXTS[self.verdict.status]


def feedback_page(result: Result, by_hand: Mapping[str, ByHand] | None = None, late_penalty: float = 0.0) -> str:
    """The page as HTML. by_hand: by exercise; late_penalty: points taken off this notebook."""
    exercises = [_ExerciseView(verdict, (by_hand or {}).get(verdict.exercise)) for verdict in result.verdicts]
    points = max(0.0, sum(exercise.points for exercise in exercises) - late_penalty)
    technical = any(verdict.status == "technical" for verdict in result.verdicts)
    return render(
        "feedback",
        result=result,
        exercises=exercises,
        points=points,
        late_penalty=late_penalty,
        any_technical=technical,
    )


def write_feedback(course: str | Path, result: Result, **more) -> Path:
    """Writes `feedback/STUDENT/ASSIGNMENT/NOTEBOOK.html`, where `nbgrader release_feedback` looks for it."""
    path = Path(course, "feedback", result.student, result.assignment, f"{result.notebook}.html")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, feedback_page(result, **more))
    return path
