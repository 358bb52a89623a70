"""The whole term: progress of each student, difficulty of each exercise with its confidence interval."""

import csv

import pytest
from grader_course import grade_as, released, run

from autograde.common.errors import AutogradeError
from autograde.grader.book.forget import kept_about
from autograde.grader.book.gradebook import Gradebook
from autograde.grader.book.term import exercise_rows, student_rows, wilson
from autograde.grader.grading.results import Result
from autograde.judging.verdict import Verdict


@pytest.mark.parametrize(
    ("right", "students", "low", "high"),
    [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (3, 3, 0.4385, 1.0), (81, 263, 0.2553, 0.3662)],
)
def test_intervals_are_wilsons(right, students, low, high):
    """The last one is in Newcombe 1998 (Statistics in Medicine 17, p. 857), table I."""
    assert wilson(right, students) == (pytest.approx(low, abs=1e-4), pytest.approx(high, abs=1e-4))


def test_an_interval_contains_its_share():
    for students in range(1, 60):
        for right in range(students + 1):
            low, high = wilson(right, students)
            assert 0 <= low <= right / students <= high <= 1


def _book(course, *assignments):
    """A gradebook whose assignments have one exercise of three points."""
    with Gradebook(course) as book:
        for name in assignments:
            (course / "release" / name).mkdir(parents=True)
            (course / "release" / name / "03_attention.ipynb").write_bytes(released())
            book.book.add_assignment(name)
            book.book.add_notebook("03_attention", name)
            book.book.add_grade_cell("check_scores", "03_attention", name, max_score=3, cell_type="code")
            book.book.add_solution_cell("scores", "03_attention", name)
            book.book.add_source_cell("check_scores", "03_attention", name, cell_type="code", source="", locked=True)


@pytest.fixture
def course(tmp_path):
    _book(tmp_path, "ps1", "ps2", "ps3")
    for assignment, student, points in (("ps1", "ada", 0), ("ps2", "ada", 3), ("ps1", "ben", 3), ("ps2", "cleo", 0)):
        grade_as(tmp_path, student, points, assignment)
    return tmp_path


def test_the_page_and_the_tables_show_progress_and_difficulty(course):
    page, students, exercises = (open(path, encoding="utf-8").read() for path in run(course, "term").split())
    rows = {row["student"]: row for row in csv.DictReader(students.splitlines())}
    assert list(rows["ada"].values()) == ["ada", "ada", "0", "100", "50", "100"]  # ps3 is not handed in yet
    assert (rows["ben"]["ps2 %"], rows["ben"]["mean %"], rows["ben"]["change"]) == ("", "100", "")
    (one, _) = csv.DictReader(exercises.splitlines())
    assert (one["exercise"], one["students"], one["right"], one["right %"]) == ("3.1 scores", "2", "1", "50")
    assert float(one["low %"]) < 10 and float(one["high %"]) > 90
    kept = {path.name for path in kept_about(course, "ada")}
    assert {"term.html", "term_students.csv", "term_exercises.csv"} <= kept  # forgetting a student deletes them
    assert "<svg" in page and "+100" in page and "9% to 91%" in page and "ps3" not in page


def test_what_could_not_be_graded_says_nothing_about_the_exercise():
    def record(status, points, **more):
        return Result("ps1", "x", "n", (Verdict("scores", "3.4 scores", status, points, 3),), **more)

    records = [record("technical", 0), record("missing", 0, problem="damaged"), record("not attempted", 0),
               record("passed", 3)]  # fmt: skip
    (row,) = exercise_rows({"ps1": records})
    assert (row.students, row.tried, row.right, row.points) == (2, 1, 1, 0.5)


def test_students_without_a_hand_in_are_listed_without_shares():
    rows = [{"student": "eve", "assignment": "ps1", "submitted": None, "score": 0, "max_score": 3}]
    (row,) = student_rows(rows, ["ps1"])
    assert (row.shares, row.mean, row.change) == ((None,), None, None)


def test_a_course_without_grades_is_named(tmp_path):
    _book(tmp_path, "ps1")
    with pytest.raises(AutogradeError, match="nothing is graded yet"):
        run(tmp_path, "term")
