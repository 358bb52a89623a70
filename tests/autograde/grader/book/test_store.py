"""One damaged file of a course gives one clear sentence, and costs nobody else a grade."""

import pytest
from grade_class import NAME, hand_in, opened, released_course, solved

from autograde.common.errors import InputError
from autograde.grader.book.forget import TABLES, damaged, forget
from autograde.grader.book.gradebook import Gradebook
from autograde.grader.book.people import GROUPS
from autograde.grader.book.policy import POLICY
from autograde.grader.book.store import StoreError
from autograde.grader.grading.grade import grade

FILES = {
    ".autograde/policy.json": "{",
    f".autograde/groups/{NAME}.json": "[1]",
    f".autograde/by_hand/{NAME}.json": "{}",
    f".autograde/mailed/{NAME}/ann.json": "[]",
    "collected/people.json": '{"ann": {"name": "\\ud800"}}',
    f"collected/{NAME}/hand_ins/ann.json": "null",
    f"variants/{NAME}/handed_out.csv": "student,notebook\nann,03_attention\n",
    "comments.toml": "Shape = 1",
}


def _write(course, name, text):
    (course / name).parent.mkdir(parents=True, exist_ok=True)
    (course / name).write_text(text)


def test_each_kind_of_file_has_a_sentence_of_its_own(tmp_path):
    assert damaged(tmp_path) == []
    for name, text in FILES.items():
        _write(tmp_path, name, text)
    sentences = damaged(tmp_path)
    assert len(sentences) == len(FILES) == len(TABLES)
    for name in FILES:
        (sentence,) = [one for one in sentences if name in one]
        assert ": expected " in sentence and "; " in sentence


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["policy", "people", "hand_ins"])
def test_a_damaged_file_stops_nobody_else(kind, tmp_path, launcher):
    (name,) = [name for name in FILES if kind in name]
    course = released_course(tmp_path / "course")
    for student in ("ann", "ben"):
        hand_in(course, student, solved())
    _write(course, name, FILES[name])
    report = grade(opened(course), launcher)
    assert len(report.damaged) == 1 and name in report.damaged[0]
    without_grade = {"ann"} if kind == "hand_ins" else set()
    assert {student for student, _ in report.failures} == without_grade
    with Gradebook(course) as book:
        graded = {submission.student_id for submission in book.book.assignment_submissions(NAME)}
    assert graded == {"ann", "ben"} - without_grade


def test_a_student_is_forgotten_in_all_files_or_in_none(tmp_path):
    POLICY.save(POLICY.load(tmp_path).extended(NAME, "ann", 2), tmp_path)
    _write(tmp_path, f".autograde/groups/{NAME}.json", "[1]")
    with pytest.raises(StoreError, match="groups"):
        forget(tmp_path, "ann")
    assert POLICY.load(tmp_path).extensions == {NAME: {"ann": 2}}
    _write(tmp_path, f".autograde/groups/{NAME}.json", '{"One": ["ann", "ben"]}')
    forget(tmp_path, "ann")
    assert POLICY.load(tmp_path).extensions == {NAME: {}} and GROUPS.load(tmp_path, NAME).members == {"One": ("ben",)}
    with pytest.raises(InputError, match="nothing is stored about 'ann'"):
        forget(tmp_path, "ann")
