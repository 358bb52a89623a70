"""The feedback page of a student: points, right and wrong parts, and advice.

A hidden check stays hidden: the page shows only the parts, the advice and the notes of a verdict, never inputs,
expected values, seeds or pictures.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from autograde.grader.grading.results import Result
from autograde.grader.hand_ins.hand_in import copy_for_feedback
from autograde.grader.pages import render
from autograde.judging.verdict import Verdict
from bertlab.common.files import write_text

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
class ExerciseView:
    verdict: Verdict
    by_hand: ByHand | None

    @property
    def points(self) -> float:
        return self.verdict.points if self.by_hand is None or self.by_hand.points is None else self.by_hand.points

    @property
    def comment(self) -> str:
        return self.by_hand.comment if self.by_hand else ""

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


def exercise_views(result: Result, by_hand: Mapping[str, ByHand] | None = None) -> list[ExerciseView]:
    """Each exercise with the points and the comment that an instructor gave."""
    return [ExerciseView(verdict, (by_hand or {}).get(verdict.exercise)) for verdict in result.verdicts]


def total_points(result: Result, by_hand: Mapping[str, ByHand] | None = None, late_penalty: float = 0.0) -> float:
    """The notebook's points after a late penalty."""
    return max(0.0, sum(exercise.points for exercise in exercise_views(result, by_hand)) - late_penalty)


def points_text(result: Result, by_hand=None, late_penalty: float = 0.0, **_) -> str:
    """The notebook's points as on its page, which takes the same arguments: "7.5 of 9 points"."""
    return f"{total_points(result, by_hand, late_penalty):g} of {result.max_points:g} points"


def feedback_page(
    result: Result,
    by_hand: Mapping[str, ByHand] | None = None,
    late_penalty: float = 0.0,
    name: str = "",
    handed_in: str | None = None,
    title: str = "",
) -> str:
    """The page as HTML.

    by_hand: by exercise; late_penalty: points taken off this notebook; name: of the student, where it is known;
    handed_in: the time in the course's zone; title: of the notebook, by default its file's name.
    """
    return render(
        "feedback",
        result=result,
        person=name or result.student,
        title=title or result.notebook,
        handed_in=result.handed_in if handed_in is None else handed_in,
        exercises=exercise_views(result, by_hand),
        points=total_points(result, by_hand, late_penalty),
        late_penalty=late_penalty,
        any_technical=any(verdict.status == "technical" for verdict in result.verdicts),
    )


def write_feedback(course: str | Path, result: Result, **more) -> Path:
    """Writes `feedback/STUDENT/ASSIGNMENT/NOTEBOOK.html`, where `nbgrader release_feedback` looks for it, and beside it
    the files that it needs of a hand-in of the exchange."""
    path = Path(course, "feedback", result.student, result.assignment, f"{result.notebook}.html")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, feedback_page(result, **more))
    copy_for_feedback(course, result.assignment, result.student, path.parent)
    return path
