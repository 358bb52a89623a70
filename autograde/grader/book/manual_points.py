"""Points and comments that people give: who gives them, the parts of submissions that they are for, and groups.

One answer of a group is one part, as long as its members have the same points and comment by hand. A member whose
points somebody has changed has a part of their own.

`.autograde/by_hand/ASSIGNMENT.json` keeps the grader of each part, and what graders gave. Comments that can be reused
are in `comments.toml` in the course folder, one line per comment, chosen by its id:

    state-the-shape = "State the shape of every result at the end of its line: `# (B, T, d)`."

A comment by hand that contains #state-the-shape is shown with this text instead, on every page and in every export.
"""

import json
import re
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from autograde.grader.book.database import Database
from autograde.grader.book.people import GROUPS
from autograde.grader.book.store import Table
from autograde.grader.grading.results import Result, graded_file
from autograde.grader.reading.template import Template

_ID = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_USED = re.compile(rf"(?<![\w#&/])#({_ID.pattern})(?![\w-])")
_LONGEST = 4_000


# --- who gave what ---


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
    """The grader of each part, and the points that graders gave, oldest first. Keys are those of `ManualPart`."""

    grader_of: dict[str, str] = field(default_factory=dict)
    given: list[Given] = field(default_factory=list)

    def last(self) -> dict[str, Given]:
        """The last entry about each part."""
        return {one.key: one for one in self.given}

    def without(self, student: str) -> "Shares":
        """Without a student's parts."""
        return Shares(
            {key: grader for key, grader in self.grader_of.items() if key.split("/")[0] != student},
            [one for one in self.given if one.key.split("/")[0] != student],
        )


def _parsed_shares(text: str) -> Shares:
    content = json.loads(text)
    return Shares(content["grader_of"], [Given(**one) for one in content["given"]])


SHARES = Table(
    ".autograde/by_hand/{}.json", "a split among graders", "put a copy of it back",
    parse=_parsed_shares, empty=Shares, without=Shares.without,
)  # fmt: skip


def record(course: str | Path, assignment: str, given: Iterable[Given]) -> None:
    """Appends to what graders gave. Only for the one writer of the gradebook: others may have entered meanwhile."""
    shares = SHARES.load(course, assignment)
    SHARES.save(Shares(shares.grader_of, [*shares.given, *given]), course, assignment)


# --- comments that can be reused ---


def _parsed_comments(text: str) -> dict[str, str]:
    comments = tomllib.loads(text)
    for name, comment in comments.items():
        if not _ID.fullmatch(name) or not isinstance(comment, str) or not 0 < len(comment) <= _LONGEST:
            raise ValueError(
                f"{name}: expected an id of small letters, digits and hyphens, and a text of at most {_LONGEST} "
                "characters"
            )
    return comments


# The comments of a course by id.
COMMENTS = Table(
    "comments.toml", 'lines such as state-the-shape = "…"', "correct it", parse=_parsed_comments, empty=dict
)


def filled_in(text: str, comments: Mapping[str, str]) -> str:
    """The text of a comment by hand with the reusable comments in place of their ids; unknown ids stay."""
    return _USED.sub(lambda found: comments.get(found[1], found[0]), text)


def used(text: str) -> list[str]:
    """The ids in the text of a comment by hand, known or not."""
    return _USED.findall(text)


# --- parts ---


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
    extra: float

    @property
    def key(self) -> str:
        return f"{self.student}/{self.notebook}/{self.exercise}"

    @property
    def keys(self) -> list[str]:
        """The keys of the parts of all members."""
        return [replace(self, student=student).key for student in self.members]

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
    groups, alike = GROUPS.load(book.folder, assignment), defaultdict(list)
    for part in found:
        whose = groups.of(part.student) or f"/{part.student}"
        alike[whose, part.notebook, part.exercise, part.points, part.comment].append(part)
    return [replace(those[0], members=tuple(part.student for part in those)) for those in alike.values()]


def parts_of_notebook(notebook, template: Template | None) -> list[ManualPart]:
    """The parts of one student's notebook. notebook: nbgrader's `SubmittedNotebook`."""
    assignment, student = notebook.assignment.assignment.name, notebook.assignment.student_id
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
        found = []
        for student in part.members:
            notebook = book.book.find_submission_notebook(part.notebook, part.assignment, student)
            grade = next(grade for grade in notebook.grades if grade.cell.name == part.cell)
            remark = next((one for one in notebook.comments if one.cell.name == part.exercise), None)
            for entry in filter(None, (grade, remark)):
                book.book.db.refresh(entry)
            if grade.manual_score != part.points or (remark and (remark.manual_comment or "") != part.comment):
                return False
            found.append((grade, remark))
        for grade, remark in found:
            if points is not None or part.points is not None:  # a comment alone leaves a part waiting
                grade.manual_score = points
                grade.needs_manual_grade = points is None and grade.auto_score is None
            if remark:
                remark.manual_comment = comment or None
        return True

    return book.transaction(work, record)


# --- points of a group ---


def share_in_groups(book, folder: str | Path) -> None:
    """Gives points by hand, with their comment, to the group's members whose part still waits. book: nbgrader's.

    Only among members with the same graded file. A later change is that member's alone; so are a change of points that
    no part waited for, and points that a grader gave to this member alone.
    """
    changed = False
    for assignment in book.assignments:
        groups, of_group = GROUPS.load(folder, assignment.name), defaultdict(list)
        last = SHARES.load(folder, assignment.name).last().values()
        alone = {(*one.key.split("/")[:2], one.cell) for one in last if one.alone}
        for submission in assignment.submissions:
            for notebook in submission.notebooks if groups.of(submission.student_id) else ():
                of_group[groups.of(submission.student_id), notebook.name].append(notebook)
        for notebooks in of_group.values():
            same_file = defaultdict(list)
            if any(grade.needs_manual_grade for notebook in notebooks for grade in notebook.grades):
                for one in notebooks:
                    result = Result(assignment.name, one.assignment.student_id, one.name)
                    same_file[graded_file(folder, result)].append(one)
            for alike in same_file.values():
                changed |= _share(alike, alone)
    if changed:
        book.db.flush()
        book.db.expire_all()  # scores are read from the database


def _share(notebooks: list, alone: set[tuple[str, str, str]]) -> bool:
    """One notebook of the members of a group; whether anything was shared. alone: (student, notebook, cell)."""
    changed = False
    grades = [
        grade
        for one in notebooks
        for grade in one.grades
        if (one.assignment.student_id, one.name, grade.cell.name) not in alone
    ]
    for cell in {grade.cell.name for grade in grades}:
        theirs = [grade for grade in grades if grade.cell.name == cell]
        given = [grade for grade in theirs if grade.manual_score is not None and not grade.needs_manual_grade]
        if len({grade.manual_score for grade in given}) != 1:
            continue
        for grade in theirs:
            outdated = grade.manual_score is not None and grade.auto_score is None  # for an answer that was replaced
            if grade.needs_manual_grade and (grade.manual_score is None or outdated):
                grade.manual_score, grade.needs_manual_grade = given[0].manual_score, False
                remarks = {comment.cell.name: comment.manual_comment for comment in given[0].notebook.comments}
                for comment in grade.notebook.comments:
                    if comment.cell.name == cell and (outdated or not comment.manual_comment):
                        comment.manual_comment = remarks.get(cell)
                changed = True
    return changed
