"""The whole term: each student's progress over the assignments, and how difficult each exercise was.

Fractions of students are given with a 95 % confidence interval (Wilson 1927, Journal of the American Statistical
Association 22, p. 209): of 3 students, 3 right can mean an exercise that half of a class solves.
"""

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from autograde.common.errors import InputError
from autograde.grader.exports.tables import table
from autograde.grader.grading.results import Result
from autograde.grader.pages import Drawing, render
from bertlab import plots

_Z = 1.959964  # of the normal distribution, for 95 %


@dataclass(frozen=True)
class StudentRow:
    """One student. shares: of the points of each assignment, None where nothing was handed in; change: from the first
    to the last hand-in, None with fewer than two."""

    student: str
    shares: tuple[float | None, ...]
    mean: float | None
    change: float | None


@dataclass(frozen=True)
class ExerciseRow:
    """One exercise. students: who handed in and whose answer could be graded; low, high: the confidence interval of the
    share with full points; points: mean fraction of the points; tried: how many attempted it."""

    assignment: str
    label: str
    students: int
    tried: int
    right: int
    low: float
    high: float
    points: float

    @property
    def share(self) -> float:
        return self.right / self.students


def wilson(right: int, students: int) -> tuple[float, float]:
    """The 95 % confidence interval of a share, `right` of `students`."""
    share, square = right / students, _Z * _Z
    middle = (share + square / (2 * students)) / (1 + square / students)
    half = _Z / (1 + square / students) * math.sqrt(share * (1 - share) / students + square / (4 * students**2))
    return max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half))  # rounding can cross the share


def student_rows(grades: Iterable[dict], assignments: Sequence[str]) -> list[StudentRow]:
    """Progress by student, from the rows of `gradebook.Gradebook.grades`: after late penalties and changes by hand."""
    found: dict[str, dict[str, float]] = {}
    for row in grades:
        of_student = found.setdefault(row["student"], {})
        if row["submitted"] and row["max_score"] > 0:
            of_student[row["assignment"]] = row["score"] / row["max_score"]
    rows = []
    for student, of_student in sorted(found.items()):
        given = [of_student[name] for name in assignments if name in of_student]
        change = given[-1] - given[0] if len(given) > 1 else None
        mean = statistics.fmean(given) if given else None
        rows.append(StudentRow(student, tuple(map(of_student.get, assignments)), mean, change))
    return rows


def exercise_rows(results: Mapping[str, Iterable[Result]]) -> list[ExerciseRow]:
    """Exercises, most difficult first. results: the records of each assignment. By the autograder's points; answers
    that could not be graded for technical reasons do not count."""
    verdicts: dict[tuple[str, str], list] = {}
    for assignment, records in results.items():
        for verdict in (verdict for result in records if not result.problem for verdict in result.verdicts):
            if verdict.status != "technical" and verdict.max_points > 0:
                verdicts.setdefault((assignment, verdict.exercise), []).append(verdict)
    rows = []
    for (assignment, _), those in verdicts.items():
        right = sum(verdict.points >= verdict.max_points for verdict in those)
        tried = sum(verdict.status not in ("not attempted", "missing") for verdict in those)
        points = statistics.fmean(verdict.points / verdict.max_points for verdict in those)
        low, high = wilson(right, len(those))
        rows.append(ExerciseRow(assignment, those[0].label, len(those), tried, right, low, high, points))
    return sorted(rows, key=lambda row: (row.share, row.points, row.label))


def students_csv(rows: Sequence[StudentRow], assignments: Sequence[str], name: Callable[[str], str]) -> str:
    """Progress as CSV, in percent; empty where nothing was handed in."""
    head = ["student", "name", *(f"{one} %" for one in assignments), "mean %", "change"]
    return table([head, *([row.student, name(row.student), *map(_percent, (*row.shares, row.mean, row.change))]
                          for row in rows)])  # fmt: skip


def exercises_csv(rows: Sequence[ExerciseRow]) -> str:
    """Difficulty as CSV, in percent."""
    head = ["assignment", "exercise", "students", "tried", "right", "right %", "low %", "high %", "points %"]
    return table([head, *([row.assignment, row.label, row.students, row.tried, row.right,
                           *map(_percent, (row.share, row.low, row.high, row.points))] for row in rows)])  # fmt: skip


def _percent(share: float | None) -> float | str:
    return "" if share is None else round(100 * share, 1)


def term_page(
    students: Sequence[StudentRow], exercises: Sequence[ExerciseRow], assignments: Sequence[str],
    name: Callable[[str], str],
) -> str:  # fmt: skip
    """The page as HTML. Raises InputError if nothing is graded."""
    if not exercises or not assignments:
        raise InputError("nothing is graded yet; run `autograde grade` first")
    return render(
        "term",
        assignments=assignments,
        students=[(name(row.student), row) for row in students],
        exercises=exercises,
        figures={
            "progress": Drawing(plots.figure_svg(_draw_progress(students, assignments))),
            "exercises": Drawing(plots.figure_svg(_draw_exercises(exercises))),
        },
    )


def _draw_progress(students: Sequence[StudentRow], assignments: Sequence[str]):
    """Median and quartiles of each assignment, and a thin line for each student."""
    figure, axes = plots.new_figure(8.6, 3.6)
    indices = range(len(assignments))
    for row in students:
        axes.plot(
            indices, [math.nan if share is None else share for share in row.shares], color="#9aa3ad", linewidth=0.6
        )
    columns = [[row.shares[index] for row in students if row.shares[index] is not None] for index in indices]
    quartiles = [statistics.quantiles(column, n=4, method="inclusive") if len(column) > 1 else column * 3
                 for column in columns]  # fmt: skip
    known = [index for index in indices if quartiles[index]]
    low, middle, high = ([quartiles[index][part] for index in known] for part in range(3))
    axes.fill_between(known, low, high, color=plots.BLUE, alpha=0.2, label="middle half of the students")
    axes.plot(known, middle, color=plots.BLUE, marker="o", label="median")
    axes.set_xticks(indices, [one.replace("$", r"\$") for one in assignments])
    axes.set(ylim=(0, 1.02), ylabel="fraction of the points")
    axes.yaxis.set_major_formatter("{x:.0%}")
    axes.legend(frameon=False, loc="lower left")
    return figure


def _draw_exercises(exercises: Sequence[ExerciseRow]):
    """The fraction of students with full points, with its confidence interval."""
    figure, axes = plots.new_figure(8.6, max(2.2, 0.8 + 0.24 * len(exercises)))
    shares = [row.share for row in exercises]
    errors = [[row.share - row.low for row in exercises], [row.high - row.share for row in exercises]]
    axes.errorbar(shares, range(len(exercises)), xerr=errors, fmt="o", color=plots.BLUE, ecolor="#9aa3ad", capsize=2)
    axes.set_yticks(range(len(exercises)), [row.label.replace("$", r"\$") for row in exercises], fontsize=8)
    axes.invert_yaxis()
    axes.set(xlim=(-0.02, 1.02), xlabel="students with full points, 95 % confidence interval")
    axes.xaxis.set_major_formatter("{x:.0%}")
    return figure
