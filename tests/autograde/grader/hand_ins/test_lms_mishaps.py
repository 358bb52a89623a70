# ruff: noqa: F811 (fixtures of another file)
"""Files that students of a real class hand in: from two accounts, as a script, under names with suffixes."""

import shutil
from types import SimpleNamespace

import pytest
from grader_course import NB, TEMPLATES, WORK
from lms_files import Handed, canvas_gradebook, canvas_zip, make_zip, moodle_zip
from test_lms import course, fill_canvas, grade, gradebook, packed, rows, run  # noqa: F401 (fixtures)

from autograde.common.errors import InputError
from autograde.grader.book.course import make_course
from autograde.grader.book.gradebook import Gradebook, GradebookError
from autograde.grader.book.people import namer, two_names
from autograde.grader.exports.feedback_texts import feedback_html
from autograde.grader.grading.grade import grade as grade_all
from autograde.grader.grading.grade import open_assignment
from autograde.grader.grading.results import Result
from autograde.grader.hand_ins.hand_in import HAND_INS
from autograde.judging.verdict import Verdict

ACCOUNTS = [
    Handed("Roe, Mark", 4713, NB, WORK, 503),
    Handed("Roe, Mark", 4799, NB, WORK + b" ", 504),
    Handed("Doe, Jané", 4711, NB, WORK, 501),
]


def test_of_a_student_with_two_accounts_the_newest_upload_counts(course):
    zipped = canvas_zip(course / "a.zip", ACCOUNTS)
    said = run(course, "collect", "ps3", zipped)
    assert "2 students are called roemark: roemark-4713, roemark-4799" in said and "columns: student,id" in said
    (course / "class.csv").write_text("student,id\nmroe,4713\nmroe,4799\n", encoding="utf-8")
    said = run(course, "collect", "ps3", zipped, "--students", course / "class.csv")
    assert "2 students: 1 new, 0 replaced, 1 unchanged, 1 kept aside, 0 disputed" in said
    assert "what is mroe's now was collected as roemark-4713's before" in said
    assert "`autograde forget roemark-4799 --assignment ps3` deletes that" in said
    assert (course / "submitted/mroe/ps3" / NB).read_bytes() == WORK + b" "
    assert "0 new, 0 replaced, 2 unchanged" in run(course, "collect", "ps3", zipped, "--students", course / "class.csv")
    assert HAND_INS.load(course, "ps3", "mroe").number == "4799"


def test_two_accounts_without_a_table_that_names_both_stay_disputed(course):
    (course / "class.csv").write_text("student,id,name\nmroe,4713,Mark Roe\n", encoding="utf-8")
    said = run(course, "collect", "ps3", canvas_zip(course / "a.zip", ACCOUNTS), "--students", course / "class.csv")
    assert sorted(path.name for path in course.glob("submitted/*")) == ["doejané", "mroe", "roemark"], said


@pytest.mark.parametrize("system", ["canvas", "moodle"])
@pytest.mark.parametrize("file", ["03_attention.py", "Copy of 03_attention (1).py", "homework.py"])
def test_a_script_in_place_of_the_notebook_is_graded_and_answered(course, system, file):
    script = b"import numpy as np\n\ndef attention_scores(q, k):\n    return q\n"
    handed = [Handed("Jane Doe", 7, file, script), Handed("Jane Doe", 7, "attention.py", b"x = 1\n", 90211)]
    zipped = (canvas_zip if system == "canvas" else moodle_zip)(course / "a.zip", handed)
    run(course, "collect", "ps3", zipped)
    (student,) = grade(course, 2)
    folder = course / "submitted" / student / "ps3"
    assert {path.name for path in folder.iterdir()} - {"timestamp.txt"} == {NB, "attention.py"}
    assert (folder / NB).read_bytes() == script
    assert "2 unchanged" in run(course, "collect", "ps3", zipped)
    ((name, answer),) = packed(course, system)[1].items()
    text = answer.decode()
    assert "Divide by the square root of d." in text and name.endswith((".py", "_feedback.html"))
    assert system == "moodle" or all(line.startswith("#") for line in text.splitlines())


def test_a_script_beside_the_notebook_stays_a_script(course):
    handed = [Handed("Jane Doe", 7, NB, WORK), Handed("Jane Doe", 7, "03_attention.py", b"x = 1\n", 90211)]
    run(course, "collect", "ps3", moodle_zip(course / "a.zip", handed))
    assert (course / "submitted/Jane Doe/ps3" / NB).read_bytes() == WORK


SOLVES = b"def attention_scores(q, k):\n    return q\n"
HELPS = b"def helper():\n    return 1\n"


def upload(course, *scripts, first=600) -> str:
    """The output of collect for a download with these (name, content) of one student."""
    handed = [Handed("Doe, Jane", 7, name, content, first + place) for place, (name, content) in enumerate(scripts)]
    return run(course, "collect", "ps3", canvas_zip(course / f"{first}.zip", handed))


def collected(course, student="doejane") -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (course / "submitted" / student / "ps3").iterdir()}


@pytest.mark.parametrize("script", [("helper.py", HELPS), ("main.py", SOLVES), ("03_attention.py", SOLVES)])
def test_a_script_in_a_later_download_replaces_no_notebook(course, script):
    upload(course, (NB, WORK), first=500)
    said = upload(course, script)
    assert collected(course) == {NB: WORK, script[0]: script[1]}
    assert f"not graded: {script[0]} (a notebook was collected before)" in said
    assert f"copy it to submitted/doejane/ps3/{NB}" in said


def test_a_later_script_replaces_a_script_and_a_notebook_replaces_both(course):
    upload(course, ("03_attention.py", SOLVES), first=500)
    assert "1 replaced" in upload(course, ("03_attention-1.py", SOLVES + b"# 2\n"))
    assert collected(course)[NB] == SOLVES + b"# 2\n"
    upload(course, ("helper.py", HELPS), first=700)
    assert collected(course)[NB] == SOLVES + b"# 2\n"
    upload(course, (NB, WORK), first=800)
    assert collected(course)[NB] == WORK


@pytest.mark.parametrize(
    "scripts, counts",
    [
        ([("main.py", SOLVES), ("helper.py", HELPS)], "main.py"),
        ([("main.py", SOLVES), ("other.py", SOLVES)], None),
        ([("helper.py", HELPS)], None),
        ([("03_attention final.py", SOLVES), ("03_attention helper.py", HELPS)], "03_attention final.py"),
        ([("03_attention.pdf", b"%PDF-1.7"), ("helper.py", HELPS)], "03_attention.pdf"),
        ([("03_attention.pdf", b"%PDF-1.7"), ("03_attention.py", SOLVES)], "03_attention.py"),
    ],
)
def test_a_script_counts_if_it_is_the_only_one_that_can_be_meant(course, scripts, counts):
    said = upload(course, *scripts)
    assert collected(course).get(NB) == dict(scripts).get(counts)
    beside = {name for name, _ in scripts if name.endswith(".py")} - {counts}
    assert beside <= collected(course).keys()
    assert ("not graded: " in said) == (counts is None or counts.endswith(".pdf"))


def test_each_notebook_of_an_assignment_has_its_own_script(course):
    shutil.copy(course / "release/ps3" / NB, course / "release/ps3/04_encoder_layer.ipynb")
    said = upload(course, ("03_attention.py", SOLVES), ("04_encoder_layer final.py", HELPS), ("notes.py", HELPS))
    assert collected(course) == {NB: SOLVES, "04_encoder_layer.ipynb": HELPS, "notes.py": HELPS}
    assert "not graded: notes.py (none is named NOTEBOOK.py" in said
    upload(course, (NB, WORK), ("04_encoder_layer.py", SOLVES), first=700)
    assert collected(course) == {NB: WORK, "04_encoder_layer.ipynb": SOLVES, "notes.py": HELPS}


def test_modules_of_a_plain_folder_are_not_notebooks(course):
    files = {f"ada/mybert/{name}.py": SOLVES for name in ("utils", "attention")}
    files |= {f"ben/{NB}": WORK, "tools/make.py": HELPS}
    said = run(course, "collect", "ps3", make_zip(course / "a.zip", files))
    assert collected(course, "ada") == {"utils.py": SOLVES, "attention.py": SOLVES} | times(course, "ada")
    assert collected(course, "tools") == {"make.py": HELPS} | times(course, "tools") and "tools: not graded" in said


def times(course, student) -> dict[str, bytes]:
    return {"timestamp.txt": (course / "submitted" / student / "ps3/timestamp.txt").read_bytes()}


def test_to_forget_one_assignment_keeps_the_grades_of_the_others(course):
    upload(course, (NB, WORK))
    grade(course)
    with Gradebook(course) as book:
        book.book.add_assignment("ps4")
        book.write("ps4", "doejane", [], TEMPLATES)
    (course / "submitted/doejane/ps4").mkdir()
    said = run(course, "forget", "doejane", "--assignment", "ps3", "--yes")
    assert "deleted doejane's work of ps3" in said
    assert [path.name for path in course.glob("submitted/doejane/*")] == ["ps4"]
    assert not list(course.glob("results/ps3/doejane")) and HAND_INS.load(course, "ps3", "doejane") is None
    with Gradebook(course) as book:
        handed_in = {row["assignment"]: row["submitted"] for row in book.grades()}
    assert handed_in == {"ps3": False, "ps4": True}
    with pytest.raises(InputError, match="nothing of 'doejane' is stored in ps3"):
        run(course, "forget", "doejane", "--assignment", "ps3", "--yes")


def test_a_hand_in_without_a_grade_is_named_when_feedback_is_packed(course):
    run(course, "collect", "ps3", canvas_zip(course / "a.zip", ACCOUNTS[1:]))
    grade(course)
    run(course, "collect", "ps3", canvas_zip(course / "b.zip", ACCOUNTS))
    said, _ = packed(course, "canvas", code=1)
    assert "feedback of 2 students" in said and "not in it: roemark-4713: not graded yet" in said


@pytest.mark.parametrize(
    "name, last, first",
    [
        ("Doe, Jane", "Doe", "Jane"),
        ("Jan Piet van", "van", "Jan Piet"),
        ("O'Neil, Seán, Jr.", "O'Neil Jr.", "Seán"),
        ("Seán O'Neil, Jr.", "O'Neil Jr.", "Seán"),
        ("Seán O'Neil III", "O'Neil III", "Seán"),
        ("Müller-Ångström, Zoë", "Müller-Ångström", "Zoë"),
        ("van der Berg, Anna-Lee", "van der Berg", "Anna-Lee"),
        ("jane mary doe", "doe", "jane mary"),
        ("Jane", "Jane", ""),
    ],
)
def test_names_as_canvas_sorts_them_are_read(name, last, first):
    assert two_names(name) == (last, first)
    full = " ".join(part for part in (first, last) if part)
    assert two_names(full) == (last, first)


def test_a_name_with_a_suffix_is_shown_in_its_order(course):
    handed = [Handed("O'Neil, Seán, Jr.", 102, NB, WORK)]
    run(course, "collect", "ps3", canvas_zip(course / "a.zip", handed))
    grade(course)
    fill_canvas(course, canvas_gradebook(handed, "ps3 (1)", 11), "--to", course / "i.csv")
    assert namer(course)("oneilseánjr") == "Seán O'Neil Jr. (oneilseánjr)"
    run(course, "total", "--to", course / "t.csv")
    assert [row["name"] for row in rows(course / "t.csv")] == ["Seán O'Neil Jr. (oneilseánjr)"]


def test_an_unreadable_file_is_named_once_in_what_goes_back(course):
    handed = [Handed("Doe, Jané", 4711, NB, b"", 501)]
    run(course, "collect", "ps3", canvas_zip(course / "a.zip", handed))
    why = "Your file is empty."
    verdicts = [Verdict(name, f"3.1 {name}", "missing", 0, 3, advice=(why,)) for name in ("scores", "weights")]
    Result("ps3", "doejané", "03_attention", tuple(verdicts), problem=why).save(course)
    (text,) = (answer.decode() for answer in packed(course, "canvas")[1].values())
    assert text.count("file is empty") == 1 and "3.1 weights: 0 of 3" in text
    assert feedback_html(course, "ps3", TEMPLATES)["doejané"].count("file is empty") == 1


def test_a_course_without_the_assignment_in_its_gradebook_is_reported_before_anything_is_graded(course):
    make_course(course)
    for name in ("release", "submitted/jane"):
        (course / name / "ps4").mkdir(parents=True)
        (course / name / "ps4" / NB).write_bytes(WORK)
    with pytest.raises(GradebookError, match="autograde release … --assignment ps4"):
        grade_all(open_assignment(course, "ps4"), SimpleNamespace(close=lambda: None))  # no sandbox is asked for
