"""The parts of submissions that people give points for, in nbgrader's tables, and how a group shares them.

One answer of a group is one part, as long as its members have the same points and comment by hand. A member whose
points somebody has changed has a part of their own.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from autograde.grader.book.database import Database
from autograde.grader.book.groups import GROUPS
from autograde.grader.book.manual_points.graders import SHARES
from autograde.grader.grading.results import Result, graded_file
from autograde.grader.reading.template import Template


@dataclass(frozen=True)
class ManualPart:
    """One exercise of one submission.

    cell: name of the cell with its points; max_points: how many these are; automatic: the autograder's points, None
    where it gave none; points, comment: by hand; waits: for points by hand; members: the students it is for, `student`
    first; extra: points of formgrader's field "extra credit", above the others.
    """

    assignment: str
    student: str
    notebook: str
    exercise: str
    cell: str
    max_points: float
    automatic: float | None
    points: float | None
    comment: str
    waits: bool
    members: tuple[str, ...]
    extra: float = 0.0

    @property
    def key(self) -> str:
        return f"{self.student}/{self.notebook}/{self.exercise}"

    @property
    def title(self) -> str:
        """In a message: "jane, scores"."""
        return f"{self.student}, {self.exercise}"


def parts_of(
    book: Database, assignment: str, templates: Mapping[str, Template], merged: bool = True
) -> list[ManualPart]:
    """All parts of an assignment, by student. merged: one part for all members of a group who have the same points."""
    found = [
        part
        for submission in sorted(book.book.assignment_submissions(assignment), key=lambda one: one.student_id)
        for notebook in submission.notebooks
        for part in parts_of_notebook(notebook, templates.get(notebook.name))
    ]
    if not merged:
        return found
    groups, alike = GROUPS.load(book.folder, assignment), {}
    for part in found:
        whose = groups.of(part.student) or f"/{part.student}"
        alike.setdefault((whose, part.notebook, part.exercise, part.points, part.comment), []).append(part)
    return [replace(those[0], members=tuple(part.student for part in those)) for those in alike.values()]


def parts_of_notebook(notebook, template: Template | None) -> list[ManualPart]:
    """The parts of one student's notebook. notebook: nbgrader's `SubmittedNotebook`."""
    assignment, student = notebook.assignment.assignment.name, _student(notebook)
    exercises = {}  # name of the cell with the points → name of the answer, which has the comment; of several the first
    for answer in template.answers if template else []:
        if cell := template.graded_cell(answer.grade_id):
            exercises.setdefault(cell.grade_id, answer.grade_id)
    comments = {comment.cell.name: comment.manual_comment or "" for comment in notebook.comments}
    found = []
    for grade in notebook.grades:
        exercise = exercises.get(grade.cell.name, grade.cell.name)
        by_hand = grade.manual_score, comments.get(exercise, ""), bool(grade.needs_manual_grade)
        found.append(
            ManualPart(assignment, student, notebook.name, exercise, grade.cell.name, grade.cell.max_score,
                       grade.auto_score, *by_hand, (student,), grade.extra_credit or 0.0)
        )  # fmt: skip
    return found


def give(book: Database, part: ManualPart, points: float | None, comment: str, record: Callable[[], None]) -> bool:
    """Writes points and comment by hand for all members of a part; False if it is not as it was read.

    points: None takes back those by hand; record: called when they are written, before anybody else can write.
    """

    def work() -> bool:
        grades = []
        for student in part.members:
            notebook = book.book.find_submission_notebook(part.notebook, part.assignment, student)
            grade = next(grade for grade in notebook.grades if grade.cell.name == part.cell)
            grades.append((grade, next((one for one in notebook.comments if one.cell.name == part.exercise), None)))
        for grade, remark in grades:
            book.book.db.refresh(grade)
            if grade.manual_score != part.points:
                return False
            if remark is not None:
                book.book.db.refresh(remark)
                if (remark.manual_comment or "") != part.comment:
                    return False
        for grade, remark in grades:
            if points is not None or part.points is not None:  # a comment alone leaves a part waiting
                grade.manual_score = points
                grade.needs_manual_grade = points is None and grade.auto_score is None
            if remark is not None:
                remark.manual_comment = comment or None
        return True

    return book.transaction(work, record)


def share_in_groups(book, folder: str | Path) -> None:
    """Gives points by hand, with their comment, to the group's members whose part still waits. book: nbgrader's.

    Only among members with the same graded file. A later change is that member's alone; so are a change of points that
    no part waited for, and points that a grader gave to this member alone.
    """
    changed = False
    for assignment in book.assignments:
        alone = SHARES.load(folder, assignment.name).alone()
        for members in GROUPS.load(folder, assignment.name).members.values():
            submissions = [one for one in assignment.submissions if one.student_id in members]
            for name in {notebook.name for one in submissions for notebook in one.notebooks}:
                notebooks = [one for each in submissions for one in each.notebooks if one.name == name]
                for alike in _by_file(folder, assignment.name, notebooks):
                    changed |= _share(alike, alone)
    if changed:
        book.db.flush()
        book.db.expire_all()  # scores are read from the database


def _by_file(folder: str | Path, assignment: str, notebooks: list) -> list[list]:
    """Notebooks of one group, those with the same graded file together; none if no part waits."""
    if not any(grade.needs_manual_grade for notebook in notebooks for grade in notebook.grades):
        return []
    alike: dict[str, list] = {}
    for one in notebooks:
        alike.setdefault(graded_file(folder, Result(assignment, _student(one), one.name)), []).append(one)
    return list(alike.values())


def _student(notebook) -> str:
    return notebook.assignment.student_id


def _share(notebooks: list, alone: set[tuple[str, str, str]]) -> bool:
    """One notebook of the members of a group; whether anything was shared. alone: (student, notebook, cell)."""
    changed = False
    cells = {grade.cell.name for notebook in notebooks for grade in notebook.grades}
    for cell in cells:
        theirs = [notebook for notebook in notebooks if (_student(notebook), notebook.name, cell) not in alone]
        grades = [grade for notebook in theirs for grade in notebook.grades if grade.cell.name == cell]
        given = [grade for grade in grades if grade.manual_score is not None and not grade.needs_manual_grade]
        if len({grade.manual_score for grade in given}) != 1:
            continue
        for grade in grades:
            outdated = grade.manual_score is not None and grade.auto_score is None  # for an answer that was replaced
            if grade.needs_manual_grade and (grade.manual_score is None or outdated):
                grade.manual_score, grade.needs_manual_grade = given[0].manual_score, False
                remarks = {comment.cell.name: comment.manual_comment for comment in given[0].notebook.comments}
                for comment in grade.notebook.comments:
                    if comment.cell.name == cell and (outdated or not comment.manual_comment):
                        comment.manual_comment = remarks.get(cell)
                changed = True
    return changed
