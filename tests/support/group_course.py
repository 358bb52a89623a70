"""A course with groups, for the tests of group hand-ins: its fixtures, and what its commands and gradebook say."""

import shutil
from concurrent.futures import Future

import pytest
from grader_course import NB, TEMPLATE, TEMPLATES, WORK, make_gradebook, packed, release, run  # noqa: F401 (for tests)
from lms_files import canvas_zip, make_zip

from autograde.grader.book.course import SECRET
from autograde.grader.book.gradebook import Gradebook
from autograde.grader.book.manual_points import parts_of
from autograde.grader.grading.grade import Assignment, anything_new, digest, grade_by
from autograde.grader.grading.notebook_grading import Graded
from autograde.grader.grading.results import Result
from autograde.grader.reading.repair import read_submission
from autograde.judging.verdict import Verdict

OWN = "group,student\nGroup 1,ann\nGroup 1,ben\nGroup 2,cleo\nGroup 2,dora\nGroup 2,eli\n"
CANVAS = (  # the export of a group set, as spec/apis/v1/group_categories_api_spec.rb has it
    "name,canvas_user_id,user_id,login_id,sections,group_name,canvas_group_id,group_id\n"
    "Ann Lee,11,,alee,S,Team_7_a,70,\nBen Roe,12,,broe,S,Team_7_a,70,\nCleo Fox,13,,cfox,S,,,\n"
)


@pytest.fixture(scope="module")
def gradebook(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gradebook")
    make_gradebook(folder)
    with Gradebook(folder) as book:
        for student in ("ann", "ben", "cleo", "dora", "eli", "fay", "gil"):
            book.book.add_student(student)
    return folder / "gradebook.db"


@pytest.fixture
def course(gradebook, tmp_path):
    release(tmp_path)
    (tmp_path / "groups.csv").write_text(OWN)
    (tmp_path / SECRET).parent.mkdir()
    shutil.copy(gradebook, tmp_path)
    return tmp_path


def grade(course, points=3.0, students=()) -> list[str]:
    """Grades what is new or changed, with these points; returns whose files were run."""
    ran = []

    def send(item):
        ran.append(item.student)
        verdicts = (Verdict("scores", "3.1 scores", "partly", points, 3, advice=("Divide.",)),
                    Verdict("why", "3.4 why", "passed", 0, 2))  # fmt: skip
        path, future = item.files[0], Future()
        result = Result("ps3", item.student, "03_attention", verdicts, handed_in=item.handed_in, sha256=digest(path))
        future.set_result([Graded(result, read_submission(path, TEMPLATE))])
        return future

    assignment = Assignment(course, "ps3", TEMPLATES, b"x" * 32)
    report = grade_by(send, lambda item, graded: graded, assignment, students, 1, False, lambda *_: None)
    assert not report.failures and not anything_new(assignment)
    return ran


def scores(course) -> dict[str, float]:
    with Gradebook(course) as book:
        book.write_late_penalties()
        handed_in = {one.student_id for one in book.book.assignment_submissions("ps3")}
        return {row["student"]: row["score"] for row in book.grades() if row["student"] in handed_in}


def why(course) -> dict[str, tuple]:
    """Points, comment and whether they wait, of one exercise that people give points for."""
    with Gradebook(course) as book:
        parts = parts_of(book, "ps3", TEMPLATES, merged=False)
    return {part.student: (part.points, part.comment, part.waits) for part in parts if part.exercise == "why"}


def give_in_formgrader(course, student, points, comment):
    with Gradebook(course) as book:
        one = book.book.find_grade("why", "03_attention", "ps3", student)
        one.manual_score, one.needs_manual_grade = points, False
        book.book.find_comment("why", "03_attention", "ps3", student).manual_comment = comment
        book.book.db.commit()


def collect_own(course, files: dict[str, bytes], name="a.zip", date=(2026, 1, 30, 12, 0, 0)) -> str:
    zipped = make_zip(course / name, {f"{who}/{NB}": it for who, it in files.items()}, date)
    return run(course, "collect", "ps3", zipped)


def graded_groups(course, who="ben") -> None:
    """The groups of OWN with the hand-in of one member, graded."""
    run(course, "groups", "ps3", course / "groups.csv")
    collect_own(course, {who: WORK})
    grade(course)


def canvas_groups(course, group_set: str, entries) -> str:
    """A group set of Canvas and a download; what collecting prints."""
    (course / "c.csv").write_text(group_set)
    run(course, "groups", "ps3", course / "c.csv")
    return run(course, "collect", "ps3", canvas_zip(course / "a.zip", entries))


def set_groups(course, **groups: str) -> str:
    """set_groups(course, G="ann ben")"""
    rows = [f"{group},{student}" for group, those in groups.items() for student in those.split()]
    (course / "groups.csv").write_text("\n".join(["group,student", *rows]))
    return run(course, "groups", "ps3", course / "groups.csv")
