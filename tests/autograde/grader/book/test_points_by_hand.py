"""Several graders: a split, a sheet for each, and nobody overwrites another's points unseen."""

import csv
import io
import json
import shutil

import pytest
from grader_course import ANSWERS, TEMPLATE, TEMPLATES, as_bytes, make_gradebook, notebook, release, run
from group_course import why

from autograde.common.errors import AutogradeError
from autograde.grader.book.forget import forget
from autograde.grader.book.gradebook import Gradebook
from autograde.grader.book.manual_points import SHARES, parts_of
from autograde.grader.grading.autograded import record_results
from autograde.grader.grading.results import Result
from autograde.grader.reading.repair import read_submission
from autograde.judging.verdict import Verdict

STUDENTS = ("ada", "cleo", "dora", "eli", "fay")


@pytest.fixture(scope="module")
def pattern(tmp_path_factory):
    """Five students, each with one answer that waits for points by hand."""
    folder = tmp_path_factory.mktemp("course")
    make_gradebook(folder)
    release(folder)
    with Gradebook(folder) as book:
        for student in STUDENTS:
            work = read_submission(as_bytes(notebook(ANSWERS | {"why": f"=1+1, says {student}"})), TEMPLATE)
            verdicts = [
                Verdict(name, f"3.1 {name}", "passed", most, most)
                for name, most in (("scores", 3), ("weights", 2), ("head", 4))
            ]
            result = Result("ps3", student, "03_attention", (*verdicts, Verdict("why", "3.4 why", "passed", 0, 2)))
            record_results(book, [(result, work)], TEMPLATES)
    return folder


@pytest.fixture
def course(pattern, tmp_path):
    return shutil.copytree(pattern, tmp_path / "course")


def filled(course, grader, separator=",", **of) -> str:
    """The grader's sheet with these points (or points and comment) by student, as a spreadsheet saves it."""
    path, rows = course / f"sheets/ps3-{grader}.csv", sheet_rows(course, grader)
    for row in rows:
        if row["student"] in of and row["exercise"] == "why":
            given = of[row["student"]]
            row["points"], row["comment"] = given if isinstance(given, tuple) else (given, row["comment"])
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, rows[0], delimiter=separator, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(rows)
    path.write_text("\ufeff" + buffer.getvalue(), encoding="utf-8", newline="")
    return str(path)


def sheet_rows(course, grader) -> list[dict]:
    with (course / f"sheets/ps3-{grader}.csv").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def mine(course, grader) -> list[str]:
    return [row["student"] for row in sheet_rows(course, grader)]


def sheets(course) -> dict[str, tuple]:
    with Gradebook(course) as book:
        parts = parts_of(book, "ps3", TEMPLATES)
    return {part.student: (part.points, part.comment) for part in parts if part.exercise == "why"}


def members(course) -> dict[str, float | None]:
    """Points of each student, also of those who share a part."""
    return {student: points for student, (points, *_) in why(course).items()}


def give(course, student, points, grader) -> str:
    """Gives one student points without a sheet."""
    words = "--student", student, "--exercise", "why", "--score", points, "--grader", grader
    return run(course, "points", "ps3", *words)


def set_group(course, *students) -> None:
    (course / "groups.csv").write_text("\n".join(["group,student", *(f"G,{one}" for one in students)]) + "\n")
    run(course, "groups", "ps3", course / "groups.csv")


def split(course, *more) -> str:
    return run(course, "split", "ps3", "--grader", "ann", "--grader", "ben", *more)


def test_the_parts_that_wait_are_split_evenly_and_stay_with_their_graders(course):
    said = split(course)
    assert sorted(mine(course, "ann") + mine(course, "ben")) == list(STUDENTS)
    assert "ann: 3 parts, 3 without points" in said and "ben: 2 parts" in said
    before = mine(course, "ann"), mine(course, "ben")
    split(course, "--grader", "cara")
    assert (mine(course, "ann"), mine(course, "ben"), mine(course, "cara")) == (*before, [])
    run(course, "split", "ps3", "--grader", "ann", "--grader", "cara")  # ben's are free again
    assert mine(course, "cara") == before[1] and mine(course, "ann") == before[0]


def test_a_sheet_shows_the_answer_and_no_formula(course):
    split(course)
    (row, *_) = sheet_rows(course, "ann")
    assert row["answer"] == f"'=1+1, says {row['student']}" and (row["most"], row["points"]) == ("2", "")


@pytest.mark.parametrize("name", ["scores", "attention_scores"])  # the id, and the name on the pages
def test_exercises_can_be_split_and_one_that_does_not_wait_too(course, name):
    split(course, "--by", "exercise", "--exercise", name)
    exercises = [{row["exercise"] for row in sheet_rows(course, grader)} for grader in ("ann", "ben")]
    assert sorted(map(sorted, exercises)) == [["scores"], ["why"]]
    with pytest.raises(AutogradeError, match="no exercise 'sores' in what is graded"):
        split(course, "--exercise", "sores")


@pytest.mark.parametrize("separator", [",", ";"])
def test_filled_sheets_go_into_the_gradebook_and_the_graders_are_known(course, separator):
    split(course)
    first, second = mine(course, "ann")[:2]
    sheet = filled(course, "ann", separator, **{first: ("1,5" if separator == ";" else "1.5", "=Good."), second: "0"})
    assert "2 entered, 1 unchanged" in run(course, "points", "ps3", sheet)
    assert sheets(course)[first] == (1.5, "=Good.") and sheets(course)[second] == (0, "")
    assert "0 entered, 3 unchanged" in run(course, "points", "ps3", sheet)
    said = run(course, "points", "ps3")
    assert ["ann", "3", "2", "1"] in [line.split() for line in said.splitlines()]
    assert ["ben", "2", "0", "2"] in [line.split() for line in said.splitlines()]
    split(course)  # a new sheet has what was given
    assert "0 entered, 3 unchanged" in run(course, "points", "ps3", course / "sheets/ps3-ann.csv")
    run(course, "feedback", "ps3", "--student", first)
    assert "=Good." in (course / f"feedback/{first}/ps3/03_attention.html").read_text(encoding="utf-8")


def test_points_that_changed_since_a_sheet_was_written_are_not_overwritten(course):
    split(course)
    (student, *_) = mine(course, "ann")
    sheet = filled(course, "ann", **{student: ("2", "Fine.")})
    give(course, student, "1", "ben")
    said = run(course, "points", "ps3", sheet, code=1)
    assert f"{student}, why: since the sheet was written ben gave 1 point; the sheet says 2 points" in said
    assert sheets(course)[student] == (1, "")
    assert "1 entered" in run(course, "points", "ps3", sheet, "--replace")
    assert sheets(course)[student] == (2, "Fine.")
    run(course, "report", "ps3")
    assert "<h2>Points by hand</h2>" in (course / "reports/ps3.html").read_text(encoding="utf-8")
    with Gradebook(course) as book:  # as formgrader does
        book.book.find_grade("why", "03_attention", "ps3", student).manual_score = 0
        book.book.db.commit()
    assert f'{student}, why: ann gave 2 points, "Fine."; now 0 points' in run(course, "points", "ps3")
    said = run(course, "points", "ps3", filled(course, "ann", **{student: "1"}), code=1)
    assert "since the sheet was written formgrader gave 0 points" in said


def test_points_with_many_decimals_can_be_changed(course):
    """A sheet had six digits of them, and then it differed from the gradebook."""
    split(course)
    first, second = mine(course, "ann")[:2]
    with Gradebook(course) as book:
        for student, points in ((first, 5 / 3), (second, 1.666667)):
            grade = book.book.find_grade("why", "03_attention", "ps3", student)
            grade.manual_score, grade.needs_manual_grade = points, False
        book.book.db.commit()
    split(course)
    assert "0 entered, 3 unchanged" in run(course, "points", "ps3", course / "sheets/ps3-ann.csv")
    sheet = filled(course, "ann", **{first: "2"})
    assert "1.666667," in (course / "sheets/ps3-ann.csv").read_text(encoding="utf-8-sig")
    assert "1 entered, 2 unchanged" in run(course, "points", "ps3", sheet)
    assert "1 entered" in give(course, second, "1", "ben")
    assert (sheets(course)[first], sheets(course)[second]) == ((2, ""), (1, ""))


def test_rows_that_cannot_be_entered_are_listed_and_the_others_are_entered(course):
    split(course)
    first, second, third = mine(course, "ann")
    sheet = filled(course, "ann", **{first: "3", second: "many", third: "2"})
    said = run(course, "points", "ps3", sheet, code=1)
    assert "1 entered" in said and sheets(course)[third] == (2, "")
    assert f"{first}, why: expected a number from 0 to 2, got '3'" in said and "got 'many'" in said
    split(course)
    said = run(course, "points", "ps3", filled(course, "ann", **{third: ""}), code=1)
    assert f"{third}, why: expected points, or - to take back those by hand, got nothing" in said
    run(course, "points", "ps3", filled(course, "ann", **{third: "-"}))
    assert sheets(course)[third] == (None, "")
    (course / "other.csv").write_text("student,points\nada,1\n")
    with pytest.raises(AutogradeError, match="expected the columns grader, student"):
        run(course, "points", "ps3", course / "other.csv")


def test_a_comment_alone_leaves_a_part_waiting(course):
    split(course)
    (student, *_) = mine(course, "ann")
    run(course, "points", "ps3", filled(course, "ann", **{student: ("", "Later.")}))
    assert sheets(course)[student] == (None, "Later.")
    assert "ann: 3 parts, 3 without points" in split(course)


def test_a_group_is_one_part(course):
    set_group(course, "ada", "cleo")
    split(course)
    whose = {name: "ann" if name in mine(course, "ann") else "ben" for name in STUDENTS}
    assert sum(name in mine(course, "ann") + mine(course, "ben") for name in ("ada", "cleo")) == 1
    run(course, "points", "ps3", filled(course, whose["ada"], ada="2"))
    assert members(course) == dict.fromkeys(STUDENTS) | {"ada": 2, "cleo": 2}


def test_a_groups_row_reaches_each_member_and_lists_those_whose_points_differ(course):
    set_group(course, "ada", "cleo", "dora")
    run(course, "split", "ps3", "--grader", "ann")
    give(course, "ada", "1", "ben")
    said = run(course, "points", "ps3", filled(course, "ann", ada="2"), code=1)
    assert "1 entered" in said and "ada, why: since the sheet was written ben gave 1 point" in said
    assert list(members(course).values()) == [1, 2, 2, None, None]


def test_replace_leaves_rows_alone_that_the_grader_did_not_touch(course):
    split(course)
    first, second = mine(course, "ann")[:2]
    for student in (first, second):
        give(course, student, "1", "ben")
    said = run(course, "points", "ps3", filled(course, "ann", **{first: "2"}), "--replace")
    assert "1 entered, 2 unchanged" in said
    assert sheets(course)[first] == (2, "") and sheets(course)[second] == (1, "")


def test_what_another_grader_enters_meanwhile_is_kept_too(course, monkeypatch):
    from autograde.grader.book import sheets

    write = sheets.give

    def meanwhile(*given):  # between the reading of a part and its writing
        monkeypatch.setattr(sheets, "give", write)
        give(course, "cleo", "1", "ben")
        return write(*given)

    monkeypatch.setattr(sheets, "give", meanwhile)
    give(course, "ada", "1", "ann")
    last = SHARES.load(course, "ps3").last()
    assert {key.split("/")[0]: one.grader for key, one in last.items()} == {"ada": "ann", "cleo": "ben"}


def test_names_of_graders_and_forgotten_students(course):
    for names in (("--grader", "../x"), ("--grader", "Ann", "--grader", "ann")):
        with pytest.raises(AutogradeError, match="expected"):
            run(course, "split", "ps3", *names)
    split(course)
    forget(course, "ada")
    assert not list(course.glob("sheets/*"))
    assert "ada" not in json.dumps(SHARES.load(course, "ps3").grader_of)
