"""The `autograde` command around a small course: collect, look, write pages, export."""

import csv
import io
import json
import re
import shutil
import subprocess
import sys
import zipfile

import pytest
from click.testing import CliRunner
from grader_course import ANSWERS, STUBS, as_bytes, make_gradebook, notebook, released

from autograde.cli import COMMANDS, cli
from autograde.common.errors import AutogradeError
from autograde.grader.book.course import make_course
from autograde.grader.book.gradebook import Gradebook
from autograde.grader.grading.autograded import write_autograded
from autograde.grader.grading.results import Result
from autograde.grader.reading.repair import read_submission
from autograde.grader.reading.template import Template
from autograde.judging.verdict import Verdict

_NAME = re.compile(rb"mark(?!down|s_|up)")
TEMPLATES = {"03_attention": Template.read(released(), "03_attention")}


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course with a release, three submissions collected by the command, and two of them graded."""
    folder = tmp_path_factory.mktemp("course")
    (folder / "release/ps3").mkdir(parents=True)
    (folder / "release/ps3/03_attention.ipynb").write_bytes(released())
    make_gradebook(folder)
    download = folder / "week3.zip"
    with zipfile.ZipFile(download, "w") as archive:
        archive.writestr("jane_1_5_03_attention.ipynb", as_bytes(notebook(ANSWERS)))
        archive.writestr("mark_2_6_03_attention.ipynb", as_bytes(notebook(ANSWERS)))
        archive.writestr("lazy_3_7_03_attention.ipynb", as_bytes(notebook(STUBS)))
        archive.writestr("../evil_4_8_03_attention.ipynb", b"{}")
    collected = run(folder, "collect", "ps3", str(download), code=1)
    assert "3 students: 3 new" in collected and "leads out of the archive" in collected
    grade(folder, "jane", Verdict("scores", "3.1 scores", "passed", 3, 3))
    wrong = Verdict("scores", "3.1 scores", "wrong", 0, 3, advice=("Divide by √d.",), misconception="unscaled")
    grade(folder, "mark", wrong, sha256="0" * 64)
    return folder


@pytest.fixture
def folder(course, tmp_path):
    """A copy of the course, for a test that changes it."""
    return shutil.copytree(course, tmp_path / "course")


def grade(folder, student, verdict, **more):
    result = Result("ps3", student, "03_attention", (verdict,), seconds=1.0, **more)
    result.save(folder)
    with Gradebook(folder) as book:
        book.write("ps3", student, [result], TEMPLATES)


def run(folder, *arguments, code=0):
    outcome = CliRunner().invoke(cli, [*arguments, "--course", str(folder)])
    if outcome.exception and not isinstance(outcome.exception, SystemExit):
        raise outcome.exception
    assert outcome.exit_code == code, outcome.output
    return outcome.stdout


def test_a_download_without_a_submission_says_why(folder, tmp_path):
    (tmp_path / "notes.txt").write_text("hello")
    assert "notes.txt: it is not a notebook" in run(folder, "collect", "ps3", str(tmp_path / "notes.txt"), code=1)
    (tmp_path / "nothing").mkdir()
    assert "no files in nothing" in run(folder, "collect", "ps3", str(tmp_path / "nothing"), code=1)


def test_status_counts_what_is_in_graded_and_outdated(course):
    (row,) = json.loads(run(course, "status", "--json"))
    assert (row["submitted"], row["graded"], row["outdated"], row["due"]) == (3, 2, 1, "2026-02-01 12:00:00 UTC")
    assert "ps3" in run(course, "status")


def test_feedback_pages_hold_what_a_human_gave(course):
    with Gradebook(course) as book:
        book.book.find_grade("check_scores", "03_attention", "ps3", "mark").manual_score = 1.5
        book.book.find_comment("scores", "03_attention", "ps3", "mark").manual_comment = "Half of it."
        book.book.db.commit()
    assert "2 pages" in run(course, "feedback", "ps3")
    page = (course / "feedback/mark/ps3/03_attention.html").read_text()
    assert "Divide by √d." in page and "Half of it." in page and "1.5 points given by hand" in page


def test_nbgraders_own_feedback_command_writes_the_same_page(folder):
    from nbgrader.apps.api import NbGraderAPI
    from traitlets.config.loader import PyFileConfigLoader

    make_course(folder)
    with Gradebook(folder) as book:
        book.book.find_comment("scores", "03_attention", "ps3", "mark").manual_comment = "Nearly."
        book.book.db.commit()
    template = TEMPLATES["03_attention"]
    handed_in = read_submission(folder / "submitted/mark/ps3/03_attention.ipynb", template)
    write_autograded(folder, template, Result("ps3", "mark", "03_attention"), handed_in)
    config = PyFileConfigLoader("nbgrader_config.py", path=str(folder)).load_config()
    config.CourseDirectory.root = str(folder)
    page = folder / "feedback/mark/ps3/03_attention.html"
    for shown, hidden in (("Divide by √d.", "check(attention_scores)"), ("check(attention_scores)", "Divide by √d.")):
        made = NbGraderAPI(config=config).generate_feedback("ps3", "mark")
        assert made["success"], made
        text = re.sub(r"<[^>]+>", "", page.read_text(encoding="utf-8"))
        assert shown in text and hidden not in text and "Nearly." in text
        shutil.rmtree(folder / "results/ps3/mark", ignore_errors=True)  # then there is no record: nbgrader's own page


def test_report_and_similarity_write_a_page_each(course):
    assert run(course, "report", "ps3").strip().endswith("reports/ps3.html")
    assert "unscaled" in (course / "reports/ps3.html").read_text()
    found = json.loads(run(course, "similarity", "ps3", "--json"))
    (same,) = found["identical"]
    assert (same["exercise"], same["students"], same["literally"]) == ("weights", ["jane", "mark"], True)
    assert (found["students"], found["pairs"]) == (3, [])  # one pair: nothing to measure it by
    run(course, "similarity", "ps3")
    assert "jane · mark" in (course / "reports/ps3-similarity.html").read_text()


def test_export_prints_a_csv(course):
    rows = list(csv.DictReader(io.StringIO(run(course, "export"))))
    assert [(row["student"], row["max_score"]) for row in rows] == [("jane", "11"), ("mark", "11")]
    assert json.loads(run(course, "export", "ps3", "--format", "json"))[0]["assignment"] == "ps3"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["report", "ps9"], "no results"),
        (["similarity", "ps9"], "released: ps3"),
        (["export", "ps9"], "assignments: ps3"),
        (["status", "ps9"], "assignments: ps3"),
    ],
)
def test_mistakes_are_one_sentence_with_what_to_do(course, arguments, words):
    with pytest.raises(AutogradeError, match=words):
        run(course, *arguments)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("feedback ps3 --to f.zip", "add --zip canvas or --zip moodle"),
        ("export ps3 --canvas-gradebook FILE --moodle-worksheet FILE", "not both"),
        ("export ps3 --moodle-worksheet FILE --format json", "--format moodle or none with this table, got json"),
        ("export ps3 --canvas-gradebook FILE --format csv", "--format canvas or none with this table, got csv"),
        ("export ps3 --column ps3=Three", "name its file with --canvas-gradebook"),
        ("export ps3 --moodle-worksheet FILE --column ps3=Three", "name its file with --canvas-gradebook"),
    ],
)
def test_an_option_that_would_have_no_effect_is_refused(course, tmp_path, line, words):
    (tmp_path / "t.csv").write_text("a table")
    arguments = [str(tmp_path / "t.csv") if word == "FILE" else word for word in line.split()]
    refused = CliRunner().invoke(cli, [*arguments, "--course", str(course)])
    assert refused.exit_code == 2 and words in " ".join(refused.output.split())


def test_a_folder_that_is_not_a_course_is_reported(tmp_path):
    with pytest.raises(AutogradeError, match="expected a course folder"):
        CliRunner().invoke(cli, ["status", "--course", str(tmp_path)], catch_exceptions=False)


@pytest.mark.parametrize("line", ["export", "total", "term", "points ps3", "extend ps3 jane --days 1", "due ps3"])
def test_a_course_without_a_gradebook_is_reported(course, tmp_path, line):
    shutil.copytree(course / "release", tmp_path / "release")
    with pytest.raises(AutogradeError, match="expected a course folder with a gradebook.db"):
        run(tmp_path, *line.split())


def test_a_student_who_is_forgotten_is_nowhere_in_the_course(folder):
    for command in ("feedback", "report", "similarity"):
        run(folder, command, "ps3")
    older = folder / "collected/ps3/earlier/mark"
    older.mkdir(parents=True)
    (older / "03_attention.ipynb").write_text("an older one of mark's")
    naming = lambda: [path for path in folder.rglob("*") if path.is_file() and _NAME.search(path.read_bytes())]  # noqa: E731
    assert {"manifest.json", "gradebook.db", "ps3.html", "ps3-similarity.html"} <= {path.name for path in naming()}
    assert "deleted mark" in run(folder, "forget", "mark", "--yes")
    assert [path.name for path in naming()] == ["week3.zip"]  # the download is the instructor's own
    assert not list(folder.rglob("mark"))
    assert [row["student"] for row in json.loads(run(folder, "export", "--format", "json"))] == ["jane"]
    (row,) = json.loads(run(folder, "status", "--json"))
    assert (row["submitted"], row["graded"]) == (2, 1)  # the others' work is as it was
    for nobody in ("mark", "../jane", "*"):
        with pytest.raises(AutogradeError, match="nothing is stored|cannot be the name"):
            run(folder, "forget", nobody, "--yes")


def test_a_student_with_brackets_in_the_name_is_forgotten_and_nobody_else(folder):
    shutil.copytree(folder / "submitted/mark", folder / "submitted/[mj]ark")
    run(folder, "forget", "[mj]ark", "--assignment", "ps3", "--yes")
    assert not (folder / "submitted/[mj]ark/ps3").exists() and (folder / "submitted/mark/ps3").is_dir()
    run(folder, "forget", "[mj]ark", "--yes")
    assert {path.name for path in (folder / "submitted").iterdir()} == {"jane", "mark", "lazy"}


@pytest.mark.parametrize("impossible", ["..", "*", "ps?", ""])
def test_an_assignment_whose_name_would_match_others_is_refused(course, impossible):
    with pytest.raises(AutogradeError, match="cannot be the name of an assignment"):
        run(course, "forget", "jane", "--assignment", impossible, "--yes")
    assert (course / "submitted/jane/ps3").is_dir()


def test_forgetting_asks_first_and_only_about_a_known_student(course):
    asked = CliRunner().invoke(cli, ["forget", "jane", "--course", str(course)], input="n\n")
    assert asked.exit_code == 0 and "Delete all of this?" in asked.output and "nothing was deleted" in asked.output
    assert (course / "submitted/jane").is_dir()
    asked = CliRunner().invoke(cli, ["forget", "nobody", "--course", str(course)], input="y\n")
    assert "Delete all of this?" not in asked.output and "nothing is stored about 'nobody'" in str(asked.exception)


def test_exercises_are_listed():
    listed = CliRunner().invoke(cli, ["exercises", "--json"], catch_exceptions=False)
    assert all(row["points"] > 0 for row in json.loads(listed.stdout))


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_shows_an_example(command):
    shown = CliRunner().invoke(cli, [command, "--help"])
    assert shown.exit_code == 0
    assert f"autograde {command}" in shown.stdout


def test_help_loads_nothing_heavy():
    code = (
        "import sys; from autograde.cli import cli\n"
        "try: cli(['--help'])\n"
        "except SystemExit: pass\n"
        "print([m for m in ('numpy', 'nbgrader', 'matplotlib', 'keras') if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.endswith("[]\n")
