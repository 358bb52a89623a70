"""Grades one exercise again in every graded submission, after its reference, tolerance or points were corrected.

Everything else stays: the verdicts on other exercises, scores given by hand, extensions, extra credit, comments. An
unchanged verdict is not written. A file that has changed since it was graded is left to `grade`.
"""

import contextlib
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from autograde.common.errors import AutogradeError, InputError
from autograde.exercises.catalogue import of_notebook
from autograde.exercises.spec import Exercise
from autograde.grader.book.gradebook import Gradebook
from autograde.grader.book.group_hand_ins import copies, follow
from autograde.grader.book.policy import penalty_to_take
from autograde.grader.grading.autograded import record_results
from autograde.grader.grading.grade import Assignment, grade_within
from autograde.grader.grading.notebook_grading import Graded
from autograde.grader.grading.results import FOLDER, Result, load_results
from autograde.grader.hand_ins.hand_in import digest
from autograde.sandbox.launchers import SharedLauncher


@dataclass(frozen=True)
class Change:
    """One verdict that has changed."""

    student: str
    before: float
    after: float
    status: str


@dataclass
class Regraded:
    """The outcome. outdated: students whose file has changed since; failures: (student, reason)."""

    same: int = 0
    changed: list[Change] = field(default_factory=list)
    outdated: list[str] = field(default_factory=list)
    failures: list[tuple[str, str]] = field(default_factory=list)


# (assignment, an old record, ids of exercises) → what waits for these exercises, graded again in the file behind it
Again = Callable[[Assignment, Result, list[str]], Callable[[], Graded]]


def regrade(
    assignment: Assignment, exercise: Exercise, launcher: SharedLauncher | None, students: Iterable[str] = (),
    workers: int = 1,
    progress: Callable[[str, int, int], None] = lambda student, done, total: None, again: Again | None = None,
) -> Regraded:  # fmt: skip
    """Regrades an exercise. Raises InputError if it is not in the assignment, or a student has no record of it.

    again: what grades again, where that is not done with `launcher`.
    """
    if exercise.notebook not in assignment.templates:
        raise InputError(f"{assignment.name}: {exercise.id} is in notebook {exercise.notebook}, which is not in it")
    copied, report = copies(assignment.course, assignment.name), Regraded()
    chosen = {copied.get(student, student) for student in students}
    records = [one for one in load_results(assignment.course, assignment.name) if one.notebook == exercise.notebook]
    missing = chosen - {result.student for result in records}
    if missing:
        raise InputError(
            f"{assignment.course / FOLDER / assignment.name}: {exercise.notebook} of {', '.join(sorted(missing))} is "
            f"not graded; check the name, or run `autograde grade {assignment.name}`"
        )
    before = [
        result
        for result in records
        if not result.problem and (not chosen or result.student in chosen) and result.student not in copied
    ]
    report.outdated = [result.student for result in before if digest(file_behind(assignment, result)) != result.sha256]
    todo = [result for result in before if result.student not in report.outdated]
    penalty = penalty_to_take(assignment.course)
    every = [one.id for one in of_notebook(exercise.notebook)]
    names = every[: every.index(exercise.id) + 1]  # earlier answers may carry it
    pool = ThreadPoolExecutor(workers)
    with Gradebook(assignment.course) as book, contextlib.ExitStack() as at_the_end:
        at_the_end.callback(pool.shutdown, cancel_futures=True)

        def here(assignment: Assignment, result: Result, names: list[str]) -> Callable[[], Graded]:
            path = file_behind(assignment, result)
            return pool.submit(graded_again, assignment, path, result, names, launcher).result

        started = [(result, (again or here)(assignment, result, names)) for result in todo]
        for done, (result, wait) in enumerate(started, start=1):
            try:
                graded = wait()
            except AutogradeError as reason:
                report.failures.append((result.student, str(reason)))
            else:
                _take(assignment, exercise, result, graded, book, penalty, report)
            progress(result.student, done, len(todo))
        follow(assignment.course, assignment.name, assignment.templates, book, penalty)
    return report


def file_behind(assignment: Assignment, result: Result) -> Path:
    """The notebook that a record is about."""
    return assignment.course / "submitted" / result.student / assignment.name / f"{result.notebook}.ipynb"


def graded_again(
    assignment: Assignment, source: Path | bytes, result: Result, names: list[str], launcher: SharedLauncher
) -> Graded:
    """These exercises of the notebook that a record is about."""
    template = assignment.templates[result.notebook].edition(result.variant)
    return grade_within(assignment, source, template, launcher, replace(result, verdicts=()), names)


def _take(assignment, exercise, result: Result, graded: Graded, book: Gradebook, penalty, report: Regraded) -> None:
    new = next(verdict for verdict in graded.result.verdicts if verdict.exercise == exercise.id)
    old = next((verdict for verdict in result.verdicts if verdict.exercise == exercise.id), None)
    if new == old:
        report.same += 1
        return
    if graded.result.again:  # the new verdict is about the killed sandbox, not about the answer
        report.failures.append((result.student, "a sandbox was killed from outside; run it again"))
        return
    verdicts = {verdict.exercise: verdict for verdict in result.verdicts} | {exercise.id: new}
    order = {each.id: place for place, each in enumerate(of_notebook(exercise.notebook))}
    in_order = sorted(verdicts.values(), key=lambda verdict: order.get(verdict.exercise, len(order)))  # runs last
    changed = replace(result, verdicts=tuple(in_order))
    others = [
        other
        for other in load_results(assignment.course, assignment.name)
        if other.student == result.student and other.notebook != result.notebook
    ]
    record_results(book, [(changed, graded.submission)], assignment.templates, penalty, others)
    report.changed.append(Change(result.student, old.points if old else 0.0, new.points, new.status))
