"""Writes verdicts to nbgrader's `gradebook.db` and reads them back. The database has one writer at a time.

A submission is one transaction: after a kill it is there in full or not at all, and writing it twice has the same
effect as writing it once. Only automatic results are written. Entries by people stay: a score given by hand, extra
credit, an extension, a comment. A score never exceeds the points of its cell.
"""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from datetime import tzinfo
from pathlib import Path

from autograde.grader.book.course import local_time, zone_of
from autograde.grader.book.database import Database, GradebookError
from autograde.grader.book.manual_points import COMMENTS, filled_in, share_in_groups
from autograde.grader.book.people import Known, People, namer, two_names
from autograde.grader.book.policy import POLICY, LatePenalty, configured_penalty, lateness, seconds_late, set_time
from autograde.grader.book.store import StoreError
from autograde.grader.grading.results import Result, graded_file
from autograde.grader.hand_ins.hand_in import HAND_INS, HandIn
from autograde.grader.pages.feedback import ByHand
from autograde.grader.reading.template import Template
from autograde.judging.verdict import Verdict

_NO_ANSWER = ("not attempted", "missing")
_UNMARKED = str.maketrans("<>&", "‹›+")  # comments are shown on pages that do not escape them


class Gradebook(Database):
    """A course's gradebook, opened: `with Gradebook("course") as book: book.write(...)`."""

    # --- writing ---

    def write(
        self,
        assignment: str,
        student: str,
        results: Sequence[Result],
        templates: Mapping[str, Template],
        late_penalty: LatePenalty | None = None,
    ) -> None:
        """Writes one submission: all notebooks of the assignment; one without a result earns nothing.

        templates: by notebook; they define which cell has the points of an exercise. Raises GradebookError.
        """
        by_notebook = {result.notebook: result for result in results}

        def work():
            submission = self._submission(assignment, student)
            times = [result.handed_in for result in results if result.handed_in]
            set_time(submission, max(times, default=None), self._records(student).get(assignment))
            for notebook in submission.notebooks:
                result = by_notebook.get(notebook.name)
                # Points by hand for another file were not for this one.
                replaced = bool(result) and graded_file(self.folder, result) not in ("", result.sha256)
                _write_notebook(notebook, result, templates.get(notebook.name), replaced)
            self.book.db.flush()
            if late_penalty:
                for notebook in submission.notebooks:
                    self.book.db.refresh(notebook)
                self._penalise(student, late_penalty)

        self.transaction(work)

    def write_late_penalties(self, rule: LatePenalty | None = None) -> None:
        """Computes all late penalties again: scores, times, due dates, extensions and rules can change after grading.

        Points by hand count for a whole group before. rule: by default that of the course.
        """
        rule = rule or configured_penalty(self.folder)
        POLICY.load(self.folder)  # a damaged policy concerns all

        def work():
            share_in_groups(self.book, self.folder)
            for student in self.book.students:
                with contextlib.suppress(StoreError):  # what is damaged concerns this student alone; `grade` tells it
                    self._penalise(student.id, rule)

        self.transaction(work)

    def _penalise(self, student: str, rule: LatePenalty) -> None:
        """One student's penalties in all assignments, since they share the free late days."""
        records, policy, zone = self._records(student), POLICY.load(self.folder), zone_of(self.folder)
        submissions = [one for one in self._person(student).submissions if one.assignment is not None]
        for submission in submissions:
            set_time(submission, None, records.get(submission.name))
            policy.set_extension(submission, zone)
        free = policy.free_days(submissions, records, rule, zone)
        for submission in submissions:
            seconds = seconds_late(submission, records.get(submission.name), zone)
            seconds -= 86_400 * free.get(submission.name, 0)
            for notebook in submission.notebooks:
                points = rule(student, notebook.score, seconds) if seconds > 0 else None
                notebook.late_submission_penalty = None if points is None else min(max(points, 0.0), notebook.score)

    def _records(self, student: str) -> dict[str, HandIn]:
        """The facts that collecting recorded about a student's hand-ins, by assignment."""
        records = {each.name: HAND_INS.load(self.folder, each.name, student) for each in self.book.assignments}
        return {name: record for name, record in records.items() if record}

    def _person(self, student: str):
        """The student's entry in the gradebook, made if there is none, with the name and ids that are known."""
        from nbgrader import api

        person = self.book.db.get(api.Student, student) or api.Student(id=student)
        facts = People(self.folder)[student]
        if facts.name and not (person.first_name or person.last_name):
            person.last_name, person.first_name = two_names(facts.name)
        person.email = person.email or facts.email or None
        person.lms_user_id = person.lms_user_id or facts.ids.get("canvas") or None
        return person

    def assignment(self, name: str):
        """The assignment as nbgrader keeps it. Raises GradebookError for an assignment that nbgrader does not know."""
        from nbgrader import api

        try:
            return self.book.find_assignment(name)
        except api.MissingEntry:
            raise GradebookError(
                f"{self.path}: no assignment {name!r}; write it with `autograde release … --assignment {name}`, or run "
                f"`nbgrader generate_assignment {name}`"
            ) from None

    def _submission(self, assignment: str, student: str):
        """The submission with a grade and a comment for every cell of the release; missing ones are created."""
        from nbgrader import api

        released = self.assignment(assignment)
        db = self.book.db
        with db.no_autoflush:
            person = self._person(student)
            theirs = [entry for entry in person.submissions if entry.assignment is released]
            submission = theirs[0] if theirs else api.SubmittedAssignment(assignment=released, student=person)
            there = {entry.notebook_id: entry for entry in submission.notebooks}
            for notebook in released.notebooks:
                entry = there.get(notebook.id) or api.SubmittedNotebook(notebook=notebook, assignment=submission)
                graded, commented = {x.cell_id for x in entry.grades}, {x.cell_id for x in entry.comments}
                for cell in (*notebook.grade_cells, *notebook.task_cells):
                    if cell.id not in graded:
                        api.Grade(cell_id=cell.id, notebook=entry)
                for cell in (*notebook.solution_cells, *notebook.task_cells):
                    if cell.id not in commented:
                        api.Comment(cell_id=cell.id, notebook=entry)
            db.add(submission)
        db.flush()
        return submission

    def forget(self, student: str) -> None:
        """Deletes a student with all submissions, grades and comments."""
        from nbgrader import api
        from sqlalchemy import text

        def transaction() -> None:
            if self.book.db.get(api.Student, student) is not None:
                self.book.remove_student(student)
                # Without this the file would still contain the deleted data.
                self.book.db.connection(execution_options={"isolation_level": "AUTOCOMMIT"}).execute(text("VACUUM"))

        with self.only_writer():
            self._retry_while_locked(transaction)

    # --- reading ---

    def comments_by_hand(self) -> list[tuple[str, str, str, str]]:
        """(assignment, student, cell, text) of all comments by people."""
        return [
            (assignment.name, submission.student_id, comment.cell.name, comment.manual_comment)
            for assignment in self.book.assignments
            for submission in assignment.submissions
            for notebook in submission.notebooks
            for comment in notebook.comments
            if comment.manual_comment
        ]

    def grades(self, assignments: Sequence[str] = ()) -> list[dict]:
        """One row per student and assignment, students without a submission included, by assignment and student.

        Late penalties are as they were last written: call `write_late_penalties` before.
        """
        rows, people, zone = [], People(self.folder), zone_of(self.folder)
        for assignment in self.book.assignments:
            if assignments and assignment.name not in assignments:
                continue
            submissions = {submission.student_id: submission for submission in assignment.submissions}
            records = HAND_INS.load_all(self.folder, assignment.name)
            for student in sorted(self.book.students, key=lambda student: student.id):
                about = submissions.get(student.id), records.get(student.id), people[student.id]
                rows.append(_row(assignment, student, *about, zone))
        return rows


def _write_notebook(notebook, result: Result | None, template: Template | None, replaced: bool) -> None:
    """Each cell's automatic score and comment. Marked for manual grading: hand-graded answers, technical failures, and
    scores by hand whose automatic score has changed since, or that were for another file."""
    verdicts = {verdict.exercise: verdict for verdict in result.verdicts} if result else {}
    by_cell: dict[str, list[Verdict]] = {}
    for verdict in verdicts.values():
        cell = template.graded_cell(verdict.exercise) if template else None
        by_cell.setdefault(cell.grade_id if cell else verdict.exercise, []).append(verdict)
    manual = {cell.grade_id for cell in template.answers if cell.cell.graded} if template else set()
    for comment in notebook.comments:
        comment.auto_comment = _comment(verdicts.get(comment.cell.name), result)
    for grade in notebook.grades:
        theirs, before = by_cell.get(grade.cell.name, []), grade.auto_score
        by_hand = grade.cell.name in manual or type(grade.cell).__name__ == "TaskCell"
        attempted = not theirs or any(verdict.status not in _NO_ANSWER for verdict in theirs)
        if by_hand and result and not result.problem and attempted:
            grade.auto_score = None
            grade.needs_manual_grade = grade.manual_score is None or replaced or grade.needs_manual_grade
            continue
        possible = sum(verdict.max_points for verdict in theirs)
        share = sum(verdict.points for verdict in theirs) / possible if possible > 0 else 0.0
        grade.auto_score = round(min(max(share, 0.0), 1.0) * grade.cell.max_score, 6)
        unjudged = not theirs and result is not None and not result.problem
        technical = unjudged or any(verdict.status == "technical" for verdict in theirs)
        if grade.manual_score is None:
            grade.needs_manual_grade = technical
        elif before != grade.auto_score or replaced:
            grade.needs_manual_grade = True  # keep the score by hand, but mark it: the automatic score has changed


def _comment(verdict: Verdict | None, result: Result | None) -> str | None:
    if result is None:
        return "No notebook was handed in."
    if result.problem:
        return result.problem.translate(_UNMARKED)
    if verdict is None:
        return None
    if verdict.status in _NO_ANSWER:
        return "No response."
    return "\n".join(verdict.advice).translate(_UNMARKED) or None


def _row(assignment, student, submission, record: HandIn | None, facts: Known, zone: tzinfo) -> dict:
    handed = submission is not None
    full = " ".join(part for part in (student.first_name, student.last_name) if part) or facts.name
    last, first = (student.last_name, student.first_name) if student.last_name else two_names(full)
    row = {
        "assignment": assignment.name,
        "student": student.id,
        "name": full,
        "last_name": last or "",
        "first_name": first or "",
        "email": student.email or facts.email,
        "login": facts.login,
        "lms_user_id": facts.ids.get("canvas") or student.lms_user_id or "",
        "participant": record.number if record and record.platform == "moodle" else "",
        "submitted": handed,
        "timestamp": submission.timestamp.isoformat(" ") if handed and submission.timestamp else "",
        "late": lateness(submission, record, zone) if handed else "",
        "raw_score": submission.score if handed else 0.0,
        "late_penalty": submission.late_submission_penalty if handed else 0.0,
        "max_score": assignment.max_score,
        "needs_manual_grade": bool(handed and submission.needs_manual_grade),
    }
    row["score"] = max(0.0, row["raw_score"] - row["late_penalty"])
    return row


# --- for pages and exports ---


def given_by_people(
    folder: str | Path, assignment: str, templates: Mapping[str, Template]
) -> Callable[[Result], dict[str, object]]:
    """The facts that a feedback page shows besides the record of the grading, as a function of the record.

    They are the keyword arguments of `feedback_page`: points and comments by hand, the late penalty, computed again,
    names of student and notebook, the time in the course's zone.
    """
    folder, found = Path(folder), {}
    comments, name, zone = COMMENTS.load(folder), namer(folder), zone_of(folder)
    if (folder / "gradebook.db").is_file():
        with Gradebook(folder) as book:
            book.write_late_penalties()
            for submission in book.book.assignment_submissions(assignment):
                for notebook in submission.notebooks:
                    by_hand = _by_hand(notebook, templates.get(notebook.name), comments)
                    late_penalty = notebook.late_submission_penalty or 0.0
                    found[submission.student_id, notebook.name] = {"by_hand": by_hand, "late_penalty": late_penalty}

    def of(result: Result) -> dict[str, object]:
        return found.get((result.student, result.notebook), {"by_hand": {}, "late_penalty": 0.0}) | {
            "name": name(result.student),
            "title": templates[result.notebook].title if result.notebook in templates else "",
            "handed_in": local_time(result.handed_in, zone),
        }

    return of


def _by_hand(notebook, template: Template | None, comments: Mapping[str, str]) -> dict[str, ByHand]:
    grades = {grade.cell.name: grade for grade in notebook.grades}
    remarks = {comment.cell.name: comment.manual_comment or "" for comment in notebook.comments}
    given = {}
    for answer in template.answers if template else ():
        cell = template.graded_cell(answer.grade_id)
        grade, remark = grades.get(cell.grade_id) if cell else None, remarks.get(answer.grade_id, "")
        changed = grade is not None and (grade.manual_score is not None or grade.extra_credit)
        if changed or remark:
            given[answer.grade_id] = ByHand(grade.score if changed else None, filled_in(remark, comments))
    return given
