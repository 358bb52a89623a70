"""The table of docs/platforms.md: each system, from its download to grades and feedback that it takes back.

Downloads are built after the systems' own code, and what goes back is read by a copy of their rules (lms_files.py).
"""

import csv
import io
import json
import shutil
import zipfile
from dataclasses import replace

import nbformat
import pytest
from click.testing import CliRunner
from grader_course import NB, RULE, TEMPLATES, WORK, grade_as, make_gradebook, packed, release, released, run
from lms_files import (
    Handed,
    archive,
    blackboard_zip,
    canvas_gradebook,
    canvas_takes,
    canvas_zip,
    make_zip,
    moodle_imports,
    moodle_takes,
    moodle_worksheet,
    moodle_zip,
)

from autograde.cli import cli
from autograde.common.errors import AutogradeError
from autograde.grader.book.gradebook import Gradebook
from autograde.grader.book.people import namer
from autograde.grader.book.policy import POLICY
from autograde.grader.grading.results import Result
from autograde.grader.hand_ins.hand_in import HAND_INS
from autograde.judging.verdict import Verdict

SORTABLE = [
    Handed("Doe, Jané", 4711, NB, WORK, 501, login="jdoe"),
    Handed("van der Berg, Anna-Lee", 4712, "all.zip", archive({"my work/" + NB: WORK}), 502, login="aberg"),
    Handed("Roe, Mark", 4713, NB, WORK, 503, late=True, login="mroe"),
]
FULL = [
    Handed("Jané Doe", 90210, NB, WORK),
    Handed("Anna-Lee van der_Berg", 90211, NB, WORK, folder="/my work/"),
    Handed("Mark Roe", 90212, NB, WORK),
]


@pytest.fixture(scope="module")
def gradebook(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gradebook")
    make_gradebook(folder)
    return folder / "gradebook.db"


@pytest.fixture
def course(gradebook, tmp_path):
    release(tmp_path)
    shutil.copy(gradebook, tmp_path)
    return tmp_path


def grade(course, points: float = 3.0) -> list[str]:
    """All that is collected, as grading records it."""
    students = sorted(folder.name for folder in course.glob("submitted/*"))
    for student in students:
        grade_as(course, student, points)
    return students


def collected(course, system, points: float | None = 3.0):
    """Collects a download, and grades what is in it."""
    run(course, "collect", "ps3", ALL[system](course / "a.zip"))
    grade(course, points)


def fill_canvas(course, table: str, *more, code=0) -> str:
    """What `autograde export` prints for a gradebook of Canvas."""
    (course / "Grades.csv").write_text(table, encoding="utf-8")
    return run(course, "export", "ps3", "--canvas-gradebook", course / "Grades.csv", *more, code=code)


def fill_moodle(course, table: str, *more, code=0) -> str:
    (course / "w.csv").write_text(table, encoding="utf-8")
    return run(course, "export", "ps3", "--moodle-worksheet", course / "w.csv", *more, code=code)


def rows(path) -> list[dict]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


# --- collect ---

ALL = {
    "canvas": lambda path: canvas_zip(path, SORTABLE),
    "anonymous canvas": lambda path: canvas_zip(path, SORTABLE, {4711: "aB3cD", 4712: "xY9zW", 4713: "12345"}),
    "moodle folders": lambda path: moodle_zip(path, FULL),
    "moodle before 4.1": lambda path: moodle_zip(path, FULL, old=True),
    "moodle flat": lambda path: moodle_zip(path, FULL, folders=False),
    "moodle blind": lambda path: moodle_zip(path, FULL, blind=True),
    "blackboard": lambda path: blackboard_zip(path, "Week 3_b", SORTABLE),
    "folders": lambda path: make_zip(path, {f"{one.name}/{NB}": WORK for one in FULL}),
    "colab": lambda path: make_zip(path, {f"Copy of 03_attention - {one.name}.ipynb": WORK for one in FULL}),
}


@pytest.mark.parametrize("system", ALL)
def test_every_download_gives_each_student_one_folder(course, system):
    said = run(course, "collect", "ps3", ALL[system](course / "a.zip"))
    assert "3 students: 3 new" in said
    assert [path.read_bytes() for path in course.glob(f"submitted/*/ps3/{NB}")] == [WORK] * 3
    timed = [path for path in course.glob("submitted/*/ps3/timestamp.txt")]
    assert len(timed) == (3 if system in ("blackboard", "folders", "colab") else 0)
    assert ("1 marked late" in said) == ("canvas" in system)


def test_several_attempts_of_one_anonymous_student_are_one_student(course):
    ids = {1: "aB3cD", 2: "aB3cD"}
    first = Handed("Doe, Jane", 1, NB, WORK, 90001, late=True)
    both = [first, replace(first, number=2, content=WORK + b" ", attachment=90002)]
    assert "1 student: 1 new" in run(course, "collect", "ps3", canvas_zip(course / "a.zip", both, ids))
    assert (course / "submitted/anon_aB3cD/ps3" / NB).read_bytes() == WORK + b" "


def test_blackboards_receipts_tell_logins_with_underscores_and_names(course):
    handed = [Handed("Jane Doe", 0, NB, WORK, login="jane_doe"), Handed("Mark Roe", 0, NB, WORK, login="mroe")]
    run(course, "collect", "ps3", blackboard_zip(course / "a.zip", "Week 3", handed))
    assert sorted(path.name for path in course.glob("submitted/*")) == ["jane_doe", "mroe"]
    assert namer(course)("jane_doe") == "Jane Doe (jane_doe)"


def test_blackboards_time_is_read_in_the_zone_of_the_course(course):
    run(course, "policy", "--timezone", "Europe/Berlin")
    run(course, "collect", "ps3", ALL["blackboard"](course / "a.zip"))
    assert (course / "submitted/jdoe/ps3/timestamp.txt").read_text() == "2026-01-30 14:00:00 UTC"


# --- grade out ---


def test_canvass_gradebook_is_filled_in_by_the_number_in_the_files_name(course):
    collected(course, "canvas", 2.0)
    table = canvas_gradebook(SORTABLE, "Attention (77)", 11)
    fill_canvas(course, table, "--column", "ps3=Attention", "--to", course / "i.csv")
    filled = {row["ID"]: row["Attention (77)"] for row in rows(course / "i.csv")}
    assert filled == {"": "11.00", "4711": "2", "4712": "2", "4713": "2", "99999": ""}
    assert [row["Final Score"] for row in rows(course / "i.csv")][2:] == ["0.00"] * 4
    assert namer(course)("doejané") == "Jané Doe (doejané)"  # Canvas's file has told the name


@pytest.mark.parametrize(
    ("name", "login", "found"),
    [("Doe, Jané", "other", True), ("DOE, JANE", "", True), ("X, Y", "doejané", True), ("X, Y", "x", False)],
)  # fmt: skip
def test_a_student_without_canvass_number_is_found_by_login_or_name(course, name, login, found):
    """The work came by mail; the id in the gradebook is Canvas's squashed name."""
    make_zip(course / "a.zip", {f"doejané/{NB}": WORK})
    run(course, "collect", "ps3", course / "a.zip")
    grade(course)
    table = canvas_gradebook([Handed(name, 31, NB, b"", login=login)], "ps3 (1)", 11, sis=False, separator=";")
    said = fill_canvas(course, table, code=not found)
    assert (f"{name};31;{login};A;3;0.00" in said) == found
    assert found or ("1 graded and without a row:\n  doejané" in said and f"  {name} (ID 31)" in said)


def test_no_grade_is_lost_without_a_word_and_no_namesake_gets_one(course):
    collected(course, "canvas")
    others = Handed("Doe, Jané", 9999, NB, b"", login="jdoe2"), Handed("Not, Handed", 8, NB, b"", login="n")
    table = canvas_gradebook([others[0], SORTABLE[1], others[1]], "ps3 (1)", 11)
    said = fill_canvas(course, table, "--to", course / "i.csv", code=1)
    assert "2 graded and without a row:\n  doejané\n  roemark" in said
    assert "2 rows without a student of the course:\n  Doe, Jané (ID 9999)\n  Not, Handed (ID 8)" in said
    assert [row["ps3 (1)"] for row in rows(course / "i.csv")][2:] == ["", "3", "", ""]


def test_two_rows_of_one_name_get_nothing_until_the_number_is_known(course):
    run(course, "collect", "ps3", make_zip(course / "a.zip", {f"Jane Doe/{NB}": WORK}))
    grade(course)
    both = [Handed("Doe, Jane", 1, NB, b"", login="a"), Handed("Doe, Jane", 2, NB, b"", login="b")]
    said = fill_canvas(course, canvas_gradebook(both, "ps3 (1)", 11), code=1)
    assert "1 graded and without a row:\n  Jane Doe" in said and "Doe, Jane (ID 2)" in said


def test_a_grade_that_canvas_would_not_take_is_named_and_an_excused_student_stays_so(course):
    """gradebook_importer.rb ignores a grade in place of N/A; one in place of EX ends that the student is excused."""
    collected(course, "canvas", 2.0)
    table = canvas_gradebook(SORTABLE, "ps3 (1)", 11)
    for one, there in zip(SORTABLE, ("EX", "N/A")):
        table = table.replace(f",{one.login},A,,", f",{one.login},A,{there},")
    said = fill_canvas(course, table, "--to", course / "i.csv", code=1)
    assert "2 graded, and left as they are because the system takes no grade there:" in said
    assert "  doejané, ps3: excused (EX)\n" in said and "  vanderbergannalee, ps3: N/A" in said
    assert [row["ps3 (1)"] for row in rows(course / "i.csv")][2:] == ["EX", "N/A", "2", ""]
    said = fill_canvas(course, table.replace("11.00", "(read only)"), code=1)
    assert "  all students of ps3: read only\n" in said


def test_titles_with_commas_do_not_hide_the_separator_of_a_gradebook(course):
    collected(course, "canvas", 2.0)
    title = "ps3, heads, masks, dropout, norm and more, part 1, 2 and 3 (1)"
    table = canvas_gradebook(SORTABLE, title, 11, separator=";")
    said = fill_canvas(course, table, "--column", f"ps3={title.removesuffix(' (1)')}")
    assert "Doe, Jané;4711;sis4711;jdoe;A;2;0.00" in said


@pytest.mark.parametrize("system", ["moodle folders", "moodle before 4.1", "moodle flat", "moodle blind"])
def test_moodles_worksheet_is_filled_in_with_grade_and_feedback(course, system):
    collected(course, system, 2.5)
    fill_moodle(course, moodle_worksheet(FULL), "--to", course / "i.csv")
    imported = moodle_imports((course / "i.csv").read_text(encoding="utf-8"))
    assert {number: points for number, (points, _) in imported.items()} == {90210: 2.5, 90211: 2.5, 90212: 2.5}
    assert "<li>3.1 scores: 2.5 of 3" in imported[90210][1] and "square root of d" in imported[90210][1]


def test_a_worksheet_that_a_spreadsheet_saved_with_semicolons_goes_back_with_commas_and_without_controls(course):
    """Moodle's import reads commas. A name in Moodle can steer the instructor's terminal."""
    collected(course, "moodle folders", 2.5)
    others = [*FULL, Handed("Eve\x1b[2J\x9b1m", 90299, NB, WORK)]
    lines = csv.reader(io.StringIO(moodle_worksheet(others)))
    text = "\n".join(";".join(f'"{cell}"' for cell in line) for line in lines)
    said = fill_moodle(course, text, code=1)
    assert "\x1b" not in said and "\x9b" not in said and r"Eve\x1b[2J" in said
    fill_moodle(course, text, "--to", course / "i.csv", code=1)
    imported = moodle_imports((course / "i.csv").read_text(encoding="utf-8"))
    assert {number: points for number, (points, _) in imported.items()} == {90210: 2.5, 90211: 2.5, 90212: 2.5}


def test_a_worksheet_in_which_moodle_would_skip_grades_is_refused(course):
    collected(course, "moodle folders")
    with pytest.raises(Exception, match="ps3 has 11 points, its maximum grade in Moodle is 10.00"):
        fill_moodle(course, moodle_worksheet(FULL, most="10.00"))


def test_grades_that_moodle_would_skip_are_named(course):
    """One is locked in Moodle's gradebook; one of 0 points is skipped by Moodle's newer import."""
    collected(course, "moodle folders", 0.0)
    worksheet = moodle_worksheet(FULL)
    lines = [line.replace(",Yes,", ",No,") if "90210" in line else line for line in worksheet.splitlines()]
    said = fill_moodle(course, "\n".join(lines), "--to", course / "i.csv", code=1)
    assert "  Jané Doe: locked or overridden in the gradebook of Moodle\n" in said
    assert "note: 0 points: Anna-Lee van der Berg, Mark Roe; newer versions of Moodle skip a 0" in said
    assert moodle_imports((course / "i.csv").read_text(encoding="utf-8")) == {}
    assert [row["Grade"] for row in rows(course / "i.csv")] == ["", "0", "0"]


def test_a_worksheet_without_a_column_for_feedback_is_reported(course):
    collected(course, "moodle folders")
    worksheet = moodle_worksheet(FULL).replace(",Feedback comments", "")
    said = fill_moodle(course, worksheet, "--to", course / "i.csv")
    assert "the worksheet has no column 'Feedback comments', so no feedback is in it" in said


def test_moodles_numbers_are_another_student_in_another_assignment(course):
    """Moodle gives participants new numbers for each assignment: 90210 is Jané here, and Mark there."""
    run(course, "collect", "ps3", ALL["moodle folders"](course / "a.zip"))
    (course / "release/ps4").mkdir()
    (course / "release/ps4" / NB).write_bytes(released())
    run(course, "collect", "ps4", moodle_zip(course / "b.zip", [Handed("Mark Roe", 90210, NB, WORK)]))
    assert HAND_INS.load(course, "ps4", "Mark Roe").number == "90210"
    assert not (course / "submitted/Jané Doe/ps4").exists()


@pytest.mark.parametrize("form", ["canvas", "moodle"])
def test_an_assignment_without_grades_is_not_exported(course, form):
    run(course, "collect", "ps3", ALL["canvas"](course / "a.zip"))
    for named in (["ps3"], []):
        with pytest.raises(Exception, match="nothing is graded yet; run `autograde grade"):
            run(course, "export", *named, "--format", form)


@pytest.mark.parametrize("form", ["canvas", "csv", "json"])
def test_a_hand_in_that_is_not_graded_yet_is_named(course, form):
    collected(course, "canvas")
    (course / "submitted/later/ps3").mkdir(parents=True)
    assert "handed in and not graded: later" in run(course, "export", "ps3", "--format", form)


# --- feedback back ---


def test_canvas_takes_the_feedback_back_as_each_students_comment(course):
    collected(course, "canvas", 1.0)
    files = packed(course, "canvas")[1]
    theirs = {str(one.number): (one.name, {str(one.attachment)}) for one in SORTABLE}
    assert {canvas_takes(name, theirs) for name in files} == {one.name for one in SORTABLE}
    text = nbformat.reads(files["doejané_4711_501_03_attention.ipynb"].decode(), as_version=4)
    nbformat.validate(text)
    assert "3.1 scores: 1 of 3" in text.cells[1].source.replace("\\", "")
    assert {cell.cell_type for cell in text.cells} == {"markdown"}
    (inner,) = (name for name in files if name.endswith(".zip"))
    with zipfile.ZipFile(io.BytesIO(files[inner])) as pages:
        assert pages.namelist() == ["03_attention.html"] and b"3.1 scores" in pages.read("03_attention.html")


def test_canvas_takes_anonymous_feedback_back(course):
    collected(course, "anonymous canvas")
    theirs = {"aB3cD": ("jane", {"501"}), "xY9zW": ("anna", {"502"}), "12345": ("mark", {"503"})}
    assert sorted(canvas_takes(name, theirs) for name in packed(course, "canvas")[1]) == ["anna", "jane", "mark"]


@pytest.mark.parametrize("system", ["moodle folders", "moodle before 4.1", "moodle flat", "moodle blind"])
def test_moodle_takes_the_feedback_back_as_feedback_files(course, system):
    collected(course, system)
    files = packed(course, "moodle")[1]
    taken = [moodle_takes(name, {one.number: one.name for one in FULL}) for name in files]
    assert sorted(taken) == sorted((one.name, "03_attention_feedback.html") for one in FULL)
    assert all(b"3.1 scores" in page for page in files.values())


def test_feedback_for_a_system_that_the_work_did_not_come_from_is_named(course):
    collected(course, "blackboard")
    with pytest.raises(Exception, match="the hand-in came from blackboard, not from canvas"):
        run(course, "feedback", "ps3", "--zip", "canvas")


# --- names, zones, the term ---


def test_names_are_on_every_page_once_they_are_known(course):
    collected(course, "canvas")
    assert "doejan" in run(course, "total").splitlines()[1]
    (course / "class.csv").write_text("student,name,id\ndoejané,Jané Doe,4711\n", encoding="utf-8")
    run(course, "collect", "ps3", course / "a.zip", "--students", course / "class.csv")
    run(course, "feedback", "ps3")
    run(course, "report", "ps3")
    assert "Jané Doe (doejané)" in (course / "feedback/doejané/ps3/03_attention.html").read_text(encoding="utf-8")
    assert "Jané Doe (doejané)" in run(course, "total")
    assert "Jané" in run(course, "export", "--format", "csv")


def test_times_are_shown_in_the_zone_of_the_course(course):
    run(course, "policy", "--timezone", "America/New_York")
    assert "2026-02-03 23:59:00 EST" in run(course, "due", "ps3", "2026-02-03 23:59")
    assert "2026-02-03 23:59:00 EST" in run(course, "status")
    collected(course, "folders")
    run(course, "export", "--format", "json", "--to", course / "g.json")
    (first, *_) = json.loads((course / "g.json").read_text())
    assert first["timestamp"].endswith("-05:00")


def test_a_due_date_with_an_offset_is_that_moment(course):
    run(course, "policy", "--timezone", "America/New_York")
    assert "2026-11-30 18:59:00 EST" in run(course, "due", "ps3", "2026-11-30 23:59+00:00")
    for impossible in ("9999-12-31 23:59", "0001-01-01 00:00+14:00"):
        with pytest.raises(AutogradeError, match="expected a time such as"):
            run(course, "due", "ps3", impossible)
    assert "2026-11-30 18:59:00 EST" in run(course, "due", "ps3")


def test_extensions_late_days_dropping_and_weights_make_a_course_grade(course):
    """Two assignments; jane is two days late in the first; 10 % a day."""
    (course / "nbgrader_config.py").write_text(RULE)
    with Gradebook(course) as book:
        book.book.add_assignment("ps4", duedate="2026-03-01 12:00:00 UTC")
        book.book.add_notebook("03_attention", "ps4")
        book.book.add_grade_cell("check_scores", "03_attention", "ps4", max_score=3, cell_type="code")
        for name, points, at in (("ps3", 3, "2026-02-03 11:00:00 UTC"), ("ps4", 1.5, "2026-02-28 12:00:00 UTC")):
            verdict = Verdict("scores", "3.1 scores", "partly", points, 3)
            book.write(name, "jane", [Result(name, "jane", "03_attention", (verdict,), handed_in=at)], TEMPLATES)

    def percent() -> float:
        return float(next(csv.DictReader(io.StringIO(run(course, "total"))))["course grade %"])

    assert percent() == pytest.approx((100 * 2.4 / 11 + 50) / 2, abs=0.01)
    run(course, "policy", "--late-days", "1")
    assert percent() == pytest.approx((100 * 2.7 / 11 + 50) / 2, abs=0.01)
    assert "late penalty now 0 points" in run(course, "extend", "ps3", "jane", "--until", "2026-02-03 12:00")
    assert percent() == pytest.approx((100 * 3 / 11 + 50) / 2, abs=0.01)
    run(course, "policy", "--weight", "ps4=3")
    assert percent() == pytest.approx((100 * 3 / 11 + 150) / 4, abs=0.01)
    run(course, "policy", "--drop-lowest", "1")
    assert percent() == pytest.approx(50)
    run(course, "policy", "--drop-lowest", "2")
    with pytest.raises(Exception, match="2 assignments are dropped and 2 count"):
        run(course, "total")


@pytest.mark.parametrize("how", ["--days 9999999", "--days inf", "--days nan", "--days -1", "--until 2999-12-31"])
def test_an_extension_of_no_possible_length_is_refused_before_it_is_stored(course, how):
    (course / "submitted/jane/ps3").mkdir(parents=True)
    outcome = CliRunner().invoke(cli, ["extend", "ps3", "jane", *how.split(), "--course", str(course)])
    assert outcome.exit_code and isinstance(outcome.exception, SystemExit | AutogradeError)
    assert not (course / ".autograde/policy.json").exists()
    run(course, "export", "ps3")


def test_an_impossible_extension_that_was_stored_is_named(course):
    (course / "submitted/jane/ps3").mkdir(parents=True)
    POLICY.save(POLICY.load(course).extended("ps3", "jane", 1e12), course)
    with pytest.raises(AutogradeError, match="expected extensions of 0 to 3650 days, got 1000000000000.0"):
        run(course, "extend", "ps3", "jane", "--days", "1")


def test_an_extension_is_given_before_the_student_hands_in(course):
    (course / "submitted/jane/ps3").mkdir(parents=True)
    run(course, "extend", "ps3", "jane", "--days", "3")
    with Gradebook(course) as book:
        verdict = Verdict("scores", "3.1 scores", "passed", 3, 3)
        result = Result("ps3", "jane", "03_attention", (verdict,), handed_in="2026-02-03 11:00:00 UTC")
        book.write("ps3", "jane", [result], TEMPLATES, late_penalty=lambda student, score, seconds: score)
        assert book.grades()[0]["late_penalty"] == 0
