"""Writes verdicts to nbgrader's `gradebook.db` and reads them back. The database has one writer at a time.

A submission is one transaction: after a kill it is there in full or not at all, and writing it twice has the same
effect as writing it once. Only automatic results are written. Entries by people stay: a score given by hand, extra
credit, an extension, a comment. A score never exceeds the points of its cell.
"""

import fcntl
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from autograde.errors import AutogradeError
from autograde.grader.feedback import ByHand
from autograde.grader.hand_ins import HandIn, hand_in, hand_ins
from autograde.grader.results import Result
from autograde.grader.template import Template
from autograde.verdict import Verdict

PATIENCE = 60.0  # seconds that another program may hold the database
LatePenalty = Callable[[str, float, float], float | None]  # (student, score, seconds late) → points taken off
_UNMARKED = str.maketrans("<>&", "‹›+")  # comments are shown on pages that do not escape them


class GradebookError(AutogradeError):
    """The gradebook cannot be opened or written, or does not contain the assignment."""


class Course:
    """A course's gradebook, opened: `with Course("course") as book: book.write(...)`."""

    def __init__(self, folder: str | Path, patience: float = PATIENCE):
        self.folder, self.patience = Path(folder), patience
        self.path = self.folder / "gradebook.db"

    def __enter__(self) -> "Course":
        from nbgrader.api import Gradebook
        from sqlalchemy import URL

        url = URL.create("sqlite", database=str(self.path.absolute()), query={"timeout": "1"})
        self._retry_while_locked(lambda: _create_tables(url))
        self.book = self._retry_while_locked(lambda: Gradebook(url))
        return self

    def __exit__(self, *_):
        self.book.close()

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

        def transaction():
            submission = self._submission(assignment, student)
            times = [result.handed_in for result in results if result.handed_in]
            record = hand_in(self.folder, assignment, student)
            _set_time(submission, max(times, default=None), record)
            for notebook in submission.notebooks:
                self._write_notebook(notebook, by_notebook.get(notebook.name), templates.get(notebook.name))
            self.book.db.flush()
            for notebook in submission.notebooks if late_penalty else ():
                self.book.db.refresh(notebook)
                notebook.late_submission_penalty = _penalty(submission, notebook, late_penalty, record)
            self.book.db.commit()

        with self._lock():
            self._retry_while_locked(transaction)

    def write_late_penalties(self, assignment: str, late_penalty: LatePenalty | None = None) -> None:
        """Computes all late penalties again: scores, times, due dates, extensions and rules can change after grading.

        late_penalty: by default the rule of the course.
        """
        late_penalty = late_penalty or configured_penalty(self.folder)
        records = hand_ins(self.folder, assignment)

        def transaction():
            released = [one for one in self.book.assignments if one.name == assignment]
            for submission in released[0].submissions if released else ():
                record = records.get(submission.student_id)
                _set_time(submission, None, record)
                for notebook in submission.notebooks:
                    notebook.late_submission_penalty = _penalty(submission, notebook, late_penalty, record)
            self.book.db.commit()

        with self._lock():
            self._retry_while_locked(transaction)

    def _submission(self, assignment: str, student: str):
        """The submission with a grade and a comment for every cell of the release; missing ones are created."""
        from nbgrader import api

        try:
            released = self.book.find_assignment(assignment)
        except api.MissingEntry:
            raise GradebookError(
                f"{self.path}: no assignment {assignment!r}; run `nbgrader generate_assignment {assignment}` first"
            ) from None
        db = self.book.db
        with db.no_autoflush:
            person = db.get(api.Student, student) or api.Student(id=student)
            found = [entry for entry in person.submissions if entry.assignment is released]
            submission = found[0] if found else api.SubmittedAssignment(assignment=released, student=person)
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

    def _write_notebook(self, notebook, result: Result | None, template: Template | None) -> None:
        verdicts = {verdict.exercise: verdict for verdict in result.verdicts} if result else {}
        by_cell: dict[str, list[Verdict]] = {}
        for verdict in verdicts.values():
            cell = template.graded_cell(verdict.exercise) if template else None
            by_cell.setdefault(cell.grade_id if cell else verdict.exercise, []).append(verdict)
        manual = {cell.grade_id for cell in template.answers if cell.cell.graded} if template else set()
        for grade in notebook.grades:
            _write_grade(grade, by_cell.get(grade.cell.name, []), grade.cell.name in manual, result)
        for comment in notebook.comments:
            comment.auto_comment = _comment(verdicts.get(comment.cell.name), result)

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """One writer at a time among autograders; the lock goes with its process, however that ends."""
        with open(self.path.with_name(".gradebook.lock"), "w") as file:
            end = time.monotonic() + self.patience
            while True:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > end:
                        raise GradebookError(
                            f"{self.path}: another autograder has been writing for {self.patience:g} s; wait or stop it"
                        ) from None
                    time.sleep(0.05)
            yield

    def _retry_while_locked(self, work: Callable):
        """Calls `work`, and retries while another program has locked the database."""
        from sqlalchemy.exc import OperationalError

        end, pause = time.monotonic() + self.patience, 0.05
        while True:
            try:
                return work()
            except OperationalError as error:
                if hasattr(self, "book"):
                    self.book.db.rollback()
                if "locked" not in str(error) or time.monotonic() > end:
                    reason = "it is locked by another program" if "locked" in str(error) else str(error.orig)
                    raise GradebookError(
                        f"{self.path}: {reason}; this submission was not written. Close other programs that use the "
                        "gradebook and grade again; graded submissions are not graded twice"
                    ) from None
                time.sleep(pause)
                pause = min(2 * pause, 2.0)
            except BaseException:
                if hasattr(self, "book"):
                    self.book.db.rollback()
                raise

    def forget(self, student: str) -> bool:
        """Deletes a student with all submissions, grades and comments; returns whether the student existed."""
        from nbgrader import api
        from sqlalchemy import text

        def transaction() -> bool:
            person = self.book.db.get(api.Student, student)
            if person is not None:
                self.book.remove_student(student)
                self.book.db.connection(execution_options={"isolation_level": "AUTOCOMMIT"}).execute(text("VACUUM"))
            return person is not None  # without VACUUM the file would still contain the deleted data

        with self._lock():
            return self._retry_while_locked(transaction)

    # --- reading ---

    def assignments(self) -> list[dict]:
        """One row per assignment: name, due date, points, submissions, how many wait for a human."""
        rows = []
        for assignment in self.book.assignments:
            waiting = sum(submission.needs_manual_grade for submission in assignment.submissions)
            rows.append(
                {
                    "assignment": assignment.name,
                    "due": _iso(assignment.duedate),
                    "max_score": assignment.max_score,
                    "graded": len(assignment.submissions),
                    "needs_manual_grade": waiting,
                    "notebooks": [notebook.name for notebook in assignment.notebooks],
                }
            )
        return rows

    def by_hand(self, assignment: str, templates: Mapping[str, Template]) -> dict[tuple[str, str], dict[str, ByHand]]:
        """Points and comments given by people: by (student, notebook), then by exercise."""
        found: dict[tuple[str, str], dict[str, ByHand]] = {}
        for submission in self.book.assignment_submissions(assignment):
            for notebook in submission.notebooks:
                if notebook.name in templates:
                    given = _given_by_hand(notebook, templates[notebook.name])
                    found[submission.student_id, notebook.name] = given
        return found

    def late_penalties(self, assignment: str) -> dict[tuple[str, str], float]:
        """Late penalties in points: by (student, notebook)."""
        return {
            (submission.student_id, notebook.name): notebook.late_submission_penalty or 0.0
            for submission in self.book.assignment_submissions(assignment)
            for notebook in submission.notebooks
        }

    def grades(self, assignments: Sequence[str] = ()) -> list[dict]:
        """One row per student and assignment, students without a submission included, by assignment and student."""
        rows = []
        for assignment in self.book.assignments:
            if assignments and assignment.name not in assignments:
                continue
            submissions = {submission.student_id: submission for submission in assignment.submissions}
            for student in sorted(self.book.students, key=lambda student: student.id):
                rows.append(_row(assignment, student, submissions.get(student.id)))
        return rows


def _write_grade(grade, verdicts: list[Verdict], manual: bool, result: Result | None) -> None:
    """One cell's automatic score. Marked for manual grading: hand-graded answers, technical failures, and scores by
    hand whose automatic score has changed since."""
    before = grade.auto_score
    most = grade.cell.max_score
    by_hand = manual or type(grade.cell).__name__ == "TaskCell"
    if by_hand and result and not result.problem and not _not_attempted(verdicts):
        grade.auto_score = None
        grade.needs_manual_grade = grade.manual_score is None
        return
    possible = sum(verdict.max_points for verdict in verdicts)
    share = sum(verdict.points for verdict in verdicts) / possible if possible > 0 else 0.0
    grade.auto_score = round(min(max(share, 0.0), 1.0) * most, 6)
    unjudged = not verdicts and result is not None and not result.problem
    technical = unjudged or any(verdict.status == "technical" for verdict in verdicts)
    if grade.manual_score is None:
        grade.needs_manual_grade = technical
    elif before != grade.auto_score:
        grade.needs_manual_grade = True  # keep the score by hand, but mark it: the automatic score has changed


def _given_by_hand(notebook, template: Template) -> dict[str, ByHand]:
    grades = {grade.cell.name: grade for grade in notebook.grades}
    comments = {comment.cell.name: comment.manual_comment or "" for comment in notebook.comments}
    given = {}
    for answer in template.answers:
        cell = template.graded_cell(answer.grade_id)
        grade, comment = grades.get(cell.grade_id) if cell else None, comments.get(answer.grade_id, "")
        changed = grade is not None and (grade.manual_score is not None or grade.extra_credit)
        if changed or comment:
            given[answer.grade_id] = ByHand(grade.score if changed else None, comment)
    return given


def _not_attempted(verdicts: list[Verdict]) -> bool:
    return bool(verdicts) and all(verdict.status in ("not attempted", "missing") for verdict in verdicts)


def _comment(verdict: Verdict | None, result: Result | None) -> str | None:
    if result is None:
        return "No notebook was handed in."
    if result.problem:
        return result.problem.translate(_UNMARKED)
    if verdict is None:
        return None
    if verdict.status in ("not attempted", "missing"):
        return "No response."
    return "\n".join(verdict.advice).translate(_UNMARKED) or None


def _set_time(submission, graded: str | None, record: HandIn | None) -> None:
    """The time of the hand-in: as collecting recorded it, also where it is unknown; else as the graded file has it."""
    from nbgrader.utils import parse_utc

    if record is not None:
        submission.timestamp = parse_utc(record.time) if record.time else None
    elif graded:
        submission.timestamp = parse_utc(graded)


def _penalty(submission, notebook, late_penalty: LatePenalty, record: HandIn | None) -> float | None:
    """Points to take off. A system that marks late hand-ins decides who is late: it knows its own extensions."""
    if submission.total_seconds_late <= 0 or (record is not None and record.late is False):
        return None
    points = late_penalty(submission.student_id, notebook.score, submission.total_seconds_late)
    return None if points is None else min(max(points, 0.0), notebook.score)


def configured_penalty(course: str | Path) -> LatePenalty:
    """The late-submission plugin of the course's own `nbgrader_config.py`; nbgrader's default deducts nothing."""
    from nbgrader.preprocessors import AssignLatePenalties
    from traitlets.config import Config
    from traitlets.config.loader import ConfigFileNotFound, PyFileConfigLoader

    try:
        config = PyFileConfigLoader("nbgrader_config.py", path=str(course)).load_config()
    except ConfigFileNotFound:
        config = Config()
    preprocessor = AssignLatePenalties(config=config)
    preprocessor.init_plugin()
    return preprocessor.plugin_inst.late_submission_penalty


def given_by_people(
    folder: str | Path, assignment: str, templates: Mapping[str, Template]
) -> Callable[[Result], dict[str, object]]:
    """The data that a feedback page shows besides the record: scores and comments given by hand, late penalties.

    Reads the gradebook once; the function returns for each record the keyword arguments of `feedback_page`. Without a
    gradebook it returns none.
    """
    folder = Path(folder)
    if not (folder / "gradebook.db").is_file():
        return lambda result: {}
    with Course(folder) as book:
        book.write_late_penalties(assignment)
        by_hand, penalties = book.by_hand(assignment, templates), book.late_penalties(assignment)

    def given(result: Result) -> dict[str, object]:
        key = result.student, result.notebook
        return {"by_hand": by_hand.get(key), "late_penalty": penalties.get(key, 0.0)}

    return given


def _row(assignment, student, submission) -> dict:
    row = {
        "assignment": assignment.name,
        "student": student.id,
        "last_name": student.last_name or "",
        "first_name": student.first_name or "",
        "email": student.email or "",
        "lms_user_id": student.lms_user_id or "",
        "submitted": submission is not None,
        "timestamp": _iso(submission.timestamp) if submission else "",
        "raw_score": submission.score if submission else 0.0,
        "late_penalty": submission.late_submission_penalty if submission else 0.0,
        "max_score": assignment.max_score,
        "needs_manual_grade": bool(submission and submission.needs_manual_grade),
    }
    row["score"] = max(0.0, row["raw_score"] - row["late_penalty"])
    return row


def _iso(time) -> str:
    return time.isoformat(" ") if time else ""


def _create_tables(url) -> None:
    """Creates nbgrader's tables in an empty database, with the version that nbgrader's migrations go by.

    nbgrader does the same, but starts the first `alembic` on the PATH, which takes seconds, to learn that version.
    """
    from alembic.script import ScriptDirectory
    from nbgrader.api import Base
    from nbgrader.dbutil import ALEMBIC_DIR
    from sqlalchemy import create_engine, inspect, text

    engine = create_engine(url)
    with engine.begin() as connection:
        if not inspect(connection).get_table_names():
            connection.exec_driver_sql("BEGIN IMMEDIATE")  # all tables or none, and by one process
        if not inspect(connection).get_table_names():
            Base.metadata.create_all(connection)
            connection.exec_driver_sql("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
            version = ScriptDirectory(ALEMBIC_DIR).get_current_head()
            connection.execute(text("INSERT INTO alembic_version VALUES (:version)"), {"version": version})
    engine.dispose()
