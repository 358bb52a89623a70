"""A whole course, from an empty folder to the pages for students and instructor: init, release, grade, report."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from autograde.demo.sample_class import make_class
from autograde.grader.book.course import make_course
from autograde.grader.book.manual_points.for_feedback import given_by_people
from autograde.grader.grading.grade import Report, grade, open_assignment
from autograde.grader.grading.results import Result, load_results
from autograde.grader.pages.feedback import write_feedback
from autograde.grader.pages.report import write_report
from autograde.release import editions
from autograde.release.assignment import write_assignment
from autograde.sandbox.launchers import SharedLauncher
from bertlab.common.files import write_text

NOTEBOOK = ASSIGNMENT = "03_attention"


@dataclass(frozen=True)
class Graded:
    """The results of the demo. feedback: the pages by student."""

    run: Report
    results: list[Result]
    report: Path
    feedback: dict[str, Path]


def grade_sample_class(
    course: Path,
    launcher: SharedLauncher,
    workers: int = 2,
    progress: Callable[[str, int, int], None] = lambda *done: None,
) -> Graded:
    """Makes the course if it does not exist, grades all students without a grade, and writes the pages."""
    made = editions.make(NOTEBOOK)
    make_course(course)
    if not (course / "release" / ASSIGNMENT / f"{NOTEBOOK}.ipynb").exists():
        write_assignment(course, ASSIGNMENT, [made])
    for student, text in make_class(made).items():
        path = course / "submitted" / student / ASSIGNMENT / f"{NOTEBOOK}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, text)
    assignment = open_assignment(course, ASSIGNMENT)
    run = grade(assignment, launcher, workers=workers, progress=progress)
    results = sorted(load_results(course, ASSIGNMENT), key=lambda result: result.student)
    report = course / "reports" / f"{ASSIGNMENT}.html"
    report.parent.mkdir(exist_ok=True)
    write_report(report, results, ASSIGNMENT)
    given = given_by_people(course, ASSIGNMENT, assignment.templates)
    feedback = {result.student: write_feedback(course, result, **given(result)) for result in results}
    return Graded(run, results, report, feedback)


def summary_lines(graded: Graded) -> list[str]:
    """One line per student, then the paths of the pages."""
    lines = []
    for result in graded.results:
        points = sum(verdict.points for verdict in result.verdicts)
        possible = sum(verdict.max_points for verdict in result.verdicts)
        named = [f"{verdict.label.split()[0]} {verdict.misconception}" for verdict in result.verdicts
                 if verdict.misconception]  # fmt: skip
        said = result.problem or result.technical or (f"mistakes: {', '.join(named)}" if named else "")
        lines.append(f"{result.student:<6} {points:>4g} of {possible:g}  {said}".rstrip())
    return [*lines, f"class report   {graded.report}", f"feedback       {graded.report.parents[1] / 'feedback'}"]
