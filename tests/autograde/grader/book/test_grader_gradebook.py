"""The gradebook: a plain nbgrader course, written safely, read by stock nbgrader."""

import html
import json
import multiprocessing
import os
import re
import sqlite3
import subprocess
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path

import pytest
from grader_course import ANSWERS, RULE, TEMPLATE, TEMPLATES, as_bytes, make_gradebook, notebook

from autograde.grader.book.gradebook import Gradebook, GradebookError, configured_penalty
from autograde.grader.grading.autograded import inert_markdown, write_autograded
from autograde.grader.grading.results import Result, ResultError, load_results
from autograde.grader.reading.repair import read_submission
from autograde.judging.verdict import PartResult, Verdict

LATE = "2026-02-01 13:00:00 UTC"  # an hour


def verdict(exercise, points, most, status=None, **more):
    status = status or ("passed" if points == most else "partly")
    return Verdict(exercise, f"3.1 {exercise}", status, points, most, **more)


def result(student="jane", scores=3, why="passed", **more):
    verdicts = (
        verdict("scores", scores, 3),
        verdict("weights", 1, 2, parts=(PartResult("rows", 1, 1), PartResult("ties", 0, 1, "rows of ties"))),
        verdict("head", 0, 4, "wrong", advice=("Look at <b>line 5</b> again.",), misconception="unscaled"),
        verdict("why", 0, 2, why),
    )
    values = {"verdicts": verdicts, "handed_in": "2026-01-30 12:00:00 UTC"} | more
    return Result("ps3", student, "03_attention", **values)


@pytest.fixture(scope="module")
def empty_course(tmp_path_factory):
    """A course as `nbgrader generate_assignment` leaves it: the database holds the release's cells."""
    folder = tmp_path_factory.mktemp("course")
    make_gradebook(folder)
    return folder


@pytest.fixture
def folder(empty_course, tmp_path):
    (tmp_path / "gradebook.db").write_bytes((empty_course / "gradebook.db").read_bytes())
    return tmp_path


def write(folder, *results, **more):
    with Gradebook(folder, patience=more.pop("patience", 10)) as course:
        for one in results:
            course.write("ps3", one.student, [one], TEMPLATES, **more)


def scores(folder, student="jane"):
    with Gradebook(folder) as course:
        submission = course.book.find_submission("ps3", student)
        return {g.name: (g.auto_score, g.manual_score, g.needs_manual_grade) for g in submission.notebooks[0].grades}


def an_hour_late(folder, penalty) -> float:
    """The penalty in the gradebook for an hour."""
    write(folder, result(handed_in=LATE), late_penalty=penalty)
    with Gradebook(folder) as course:
        return course.grades()[0]["late_penalty"]


def dump(folder):
    with sqlite3.connect(folder / "gradebook.db") as db:
        return list(db.iterdump())


@pytest.mark.slow
def test_an_empty_gradebook_is_the_one_that_nbgrader_makes(tmp_path, monkeypatch):
    from nbgrader.api import Gradebook as StockGradebook

    (tmp_path / "stock").mkdir()
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")  # nbgrader starts `alembic`
    StockGradebook(f"sqlite:///{tmp_path / 'stock' / 'gradebook.db'}").close()
    monkeypatch.setenv("PATH", "")
    with Gradebook(tmp_path):
        pass
    assert dump(tmp_path) == dump(tmp_path / "stock")
    assert any("alembic_version" in line for line in dump(tmp_path))


def test_points_land_in_the_cells_that_carry_them(folder):
    write(folder, result())
    assert scores(folder) == {
        "check_scores": (3, None, False),
        "check_weights": (1, None, False),
        "check_head": (0, None, False),
        "why": (None, None, True),  # a text is for a human to read
    }
    with Gradebook(folder) as course:
        (row,) = course.grades()
        assert (row["student"], row["score"], row["max_score"]) == ("jane", 4, 11)
        assert row["needs_manual_grade"]


def test_a_text_that_nobody_wrote_needs_no_human(folder):
    write(folder, result(why="not attempted"))
    assert scores(folder)["why"] == (0, None, False)


def test_writing_twice_is_writing_once(folder):
    write(folder, result())
    before = dump(folder)
    write(folder, result())
    assert dump(folder) == before


def test_what_a_human_gave_survives_every_regrade(folder):
    write(folder, result())
    with Gradebook(folder) as course:
        grade = course.book.find_grade("check_head", "03_attention", "ps3", "jane")
        grade.manual_score, grade.extra_credit, grade.needs_manual_grade = 3.5, 0.5, False
        course.book.find_comment("head", "03_attention", "ps3", "jane").manual_comment = "Well argued."
        course.book.find_submission("ps3", "jane").extension = timedelta(days=3)
        course.book.db.commit()
    write(folder, result())
    assert scores(folder)["check_head"] == (0, 3.5, False)  # nothing new: not to be looked at again
    better = result(verdicts=(verdict("head", 4, 4),))
    write(folder, better)
    assert scores(folder)["check_head"] == (4, 3.5, True)
    with Gradebook(folder) as course:
        submission = course.book.find_submission("ps3", "jane")
        assert submission.extension == timedelta(days=3)
        assert submission.notebooks[0].grades[0].assignment is submission
        assert course.book.find_comment("head", "03_attention", "ps3", "jane").comment == "Well argued."
        assert course.book.find_grade("check_head", "03_attention", "ps3", "jane").score == 4.0  # 3.5 + 0.5


def test_points_by_hand_for_another_file_are_kept_and_marked(folder):
    def grade(sha256):
        one = result(sha256=sha256)
        write(folder, one)
        one.save(folder)

    grade("a")
    with Gradebook(folder) as course:
        for name, points in (("why", 2), ("check_head", 3.5)):
            mark = course.book.find_grade(name, "03_attention", "ps3", "jane")
            mark.manual_score, mark.needs_manual_grade = points, False
        course.book.db.commit()
    grade("a")  # the same file
    assert (scores(folder)["why"], scores(folder)["check_head"]) == ((None, 2, False), (0, 3.5, False))
    grade("b")
    assert (scores(folder)["why"], scores(folder)["check_head"]) == ((None, 2, True), (0, 3.5, True))


def test_no_score_exceeds_its_cell_or_falls_below_nothing(folder):
    write(folder, result(verdicts=(verdict("scores", 99, 3), verdict("weights", -5, 2))))
    assert scores(folder)["check_scores"][0] == 3
    assert scores(folder)["check_weights"][0] == 0


def test_points_follow_a_release_that_changed_them(folder):
    with Gradebook(folder) as course:
        course.book.find_grade_cell("check_weights", "03_attention", "ps3").max_score = 10
        course.book.db.commit()
    write(folder, result())
    assert scores(folder)["check_weights"][0] == 5


def test_an_unreadable_notebook_has_zero_points_and_says_why(folder):
    write(folder, result(verdicts=(), problem="Your file is <empty>."))
    assert {score for score, _, _ in scores(folder).values()} == {0}
    with Gradebook(folder) as course:
        assert course.book.find_comment("head", "03_attention", "ps3", "jane").comment == "Your file is ‹empty›."


def test_a_technical_failure_asks_for_a_human(folder):
    write(folder, result(verdicts=(verdict("scores", 1, 3, "technical", technical="memory"),)))
    assert scores(folder)["check_scores"] == (1, None, True)


def test_an_extension_counts_before_a_late_penalty(folder):
    penalty = lambda student, score, seconds: seconds / 3600 * 100  # noqa: E731
    assert an_hour_late(folder, penalty) == 4  # never more than the score
    with Gradebook(folder) as course:
        course.book.grant_extension("ps3", "jane", days=1)
    assert an_hour_late(folder, penalty) == 0


def test_points_off_for_each_day_begun_and_again_when_the_due_date_or_an_extension_changes(folder):
    (folder / "nbgrader_config.py").write_text(f"{RULE}c.PerDay.grace_minutes = 15\nc.PerDay.most = 50\n")
    penalty = configured_penalty(folder)
    day = 86_400
    late = [15 * 60, 16 * 60, day, day + 1, 100 * day]
    assert [penalty("jane", 4, seconds) for seconds in late] == [None, 0.4, 0.4, 0.8, 2.0]
    assert an_hour_late(folder, penalty) == pytest.approx(0.4)
    with Gradebook(folder) as course:
        course.book.grant_extension("ps3", "jane", days=2)
        course.write_late_penalties(penalty)
        assert course.grades()[0]["late_penalty"] == 0
        course.book.grant_extension("ps3", "jane")
        course.write_late_penalties(penalty)
        assert course.grades()[0]["late_penalty"] == pytest.approx(0.4)


def test_the_courses_own_late_plugin_is_used(folder):
    assert configured_penalty(folder)("jane", 10, 3600) is None
    (folder / "nbgrader_config.py").write_text(
        "from nbgrader.plugins import BasePlugin\n"
        "class Half(BasePlugin):\n"
        "    def late_submission_penalty(self, student, score, seconds):\n"
        "        return score / 2\n"
        "get_config().AssignLatePenalties.plugin_class = Half\n"
    )
    assert an_hour_late(folder, configured_penalty(folder)) == 2


def test_an_assignment_that_is_not_there_is_named(folder):
    with Gradebook(folder) as course, pytest.raises(GradebookError, match="nbgrader generate_assignment ps9"):
        course.write("ps9", "jane", [], {})


def test_a_locked_database_is_waited_for(folder):
    blocker = sqlite3.connect(folder / "gradebook.db", check_same_thread=False)
    blocker.execute("BEGIN EXCLUSIVE")
    threading.Timer(1.0, blocker.rollback).start()
    write(folder, result(), patience=30)
    assert scores(folder)["check_scores"][0] == 3


def test_a_database_locked_for_good_is_reported_and_nothing_is_half_written(folder):
    before = dump(folder)
    with Gradebook(folder, patience=0.1) as course:
        blocker = sqlite3.connect(folder / "gradebook.db")
        blocker.execute("BEGIN EXCLUSIVE")
        with pytest.raises(GradebookError, match="locked by another program"):
            course.write("ps3", "jane", [result()], TEMPLATES)
        blocker.rollback()
        assert dump(folder) == before
        course.write("ps3", "jane", [result()], TEMPLATES)
    assert scores(folder)["check_scores"][0] == 3


def test_a_failure_in_the_middle_leaves_nothing_of_the_submission(folder):
    before = dump(folder)

    def broken(*_):
        raise RuntimeError("killed")

    with Gradebook(folder) as course:
        with pytest.raises(RuntimeError):
            course.write("ps3", "jane", [result(handed_in=LATE)], TEMPLATES, late_penalty=broken)
    assert dump(folder) == before


_HOLD = "import sys; from autograde.grader.book.database import Database\n"
_HOLD += "with Database(sys.argv[1]).only_writer():\n    print('held', flush=True)\n    sys.stdin.read()"


def test_a_second_writer_is_told_so_and_a_killed_one_leaves_no_lock(folder):
    holder = subprocess.Popen([sys.executable, "-c", _HOLD, str(folder)], stdin=-1, stdout=-1, text=True)
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(GradebookError, match=r"another autograder has been writing for 0.1 s; wait or stop it"):
        write(folder, result(), patience=0.1)
    holder.kill()
    holder.communicate()
    write(folder, result(), patience=0.1)
    assert scores(folder)["check_scores"][0] == 3


def _write_many(folder, students):
    write(folder, *(result(student) for student in students), patience=60)


@pytest.mark.exhaustive
def test_two_graders_at_once_lose_nothing(folder):
    context = multiprocessing.get_context("spawn")
    names = [[f"{half}{n}" for n in range(10)] for half in "ab"]
    workers = [context.Process(target=_write_many, args=(folder, group)) for group in names]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
    with Gradebook(folder) as course:
        assert [row["score"] for row in course.grades()] == [4] * 20


def test_stock_nbgrader_shows_the_graded_submission(folder):
    from nbgrader.apps.api import NbGraderAPI
    from nbgrader.coursedir import CourseDirectory

    source = as_bytes(notebook(ANSWERS))
    submitted = folder / "submitted/jane/ps3"
    submitted.mkdir(parents=True)
    (submitted / "03_attention.ipynb").write_bytes(source)
    (submitted / "timestamp.txt").write_text("2026-01-30 12:00:00 UTC")
    graded = result()
    write(folder, graded)
    path = write_autograded(folder, TEMPLATE, graded, read_submission(source, TEMPLATE))
    api = NbGraderAPI(CourseDirectory(root=str(folder)))
    (submission,) = api.get_submissions("ps3")
    assert submission["autograded"] and submission["score"] == 4
    assert api.get_autograded_students("ps3") == {"jane"}
    (shown,) = api.get_notebook_submissions("ps3", "03_attention")
    assert shown["score"] == 4 and shown["needs_manual_grade"]
    import nbformat
    from nbgrader.nbgraderformat import MetadataValidator

    written = nbformat.read(path, as_version=4)
    nbformat.validate(written)
    MetadataValidator().validate_nb(written)
    assert any("Look at <b>line 5</b>" in str(cell.get("outputs")) for cell in written.cells)


def test_formgrader_shows_the_own_modules_that_a_notebook_uses(tmp_path):
    """With all code in mybert/helpers.py it showed one line."""
    folder = tmp_path / "submitted/jane/ps3"
    (folder / "mybert").mkdir(parents=True)
    (folder / "mybert/helpers.py").write_text(
        "from .deep import factor\n\ndef attention_scores(q, k):\n    return factor"
    )
    (folder / "mybert/deep.py").write_text("factor = 3\n")
    (folder / "mybert/unused.py").write_text("never = 1\n")
    source = as_bytes(notebook(ANSWERS | {"scores": "from mybert.helpers import attention_scores"}))
    result = Result("ps3", "jane", "03_attention")
    path = write_autograded(tmp_path, TEMPLATE, result, read_submission(source, TEMPLATE))
    sources = [cell["source"] for cell in json.loads(path.read_text())["cells"]]
    assert sources[-4:-2] == ["**mybert/helpers.py**, handed in beside the notebook",
                              (folder / "mybert/helpers.py").read_text()]  # fmt: skip
    assert sources[-1] == "factor = 3\n" and "never = 1\n" not in sources


def test_markdown_of_a_student_cannot_act_in_the_instructors_browser():
    from nbconvert.filters import markdown2html

    text = (
        "*fine* <script>alert(1)</script> [x](javascript:alert(2)) ![y](https://spy/1.png) <https://spy>\n\n"
        "[z]: javascript:alert(3)\n\n$\\href{javascript:alert(4)}{x^2}$"
    )
    page = markdown2html(inert_markdown(text))
    assert "<em>fine</em>" in page and "x^2" in page
    for active in ("<script", 'href="javascript', "<img", "\\href"):
        assert active not in page


@pytest.mark.parametrize(
    "formula",
    [
        "&#36;&#92;href{javascript:alert(1)}{x}&#36;",
        "&dollar;\\hr&#x65;f{javascript:alert(1)}{x}&dollar;",
        '$\\mmlToken{mi}[href="javascript:alert(1)"]{x}$',
        "$a&bsol;href{javascript:alert(1)}{x}$",
    ],
)
def test_no_formula_is_active_as_a_browser_reads_it(formula):
    """MathJax reads what the browser makes of entities."""
    from nbconvert.filters import markdown2html

    shown = html.unescape(re.sub("<[^>]*>", "", markdown2html(inert_markdown(formula))))
    assert not re.search(r"\\(href|mmlToken)", shown)


def test_an_ampersand_in_a_formula_stays():
    assert inert_markdown("A & B, $\\begin{matrix}a & b\\\\c&d\\end{matrix}$") == (
        "A & B, $\\begin{matrix}a & b\\\\c&d\\end{matrix}$"
    )


def test_results_survive_the_disk_and_damage_is_named(tmp_path):
    graded = result(repairs=("One.",), seconds=1.5)
    path = graded.save(tmp_path)
    assert list(load_results(tmp_path, "ps3")) == [graded]
    path.write_text("{}")
    with pytest.raises(ResultError, match="delete it and grade again"):
        list(load_results(tmp_path, "ps3"))


def test_writing_is_fast_enough_for_a_large_class(folder):
    start = time.process_time()
    write(folder, *(result(f"s{n:03}") for n in range(40)))
    assert (time.process_time() - start) / 40 < 0.25


_WRITE = (
    "import sys; sys.path[:0] = {!r}; from pathlib import Path; import test_grader_gradebook as t; "
    "t.write(Path({!r}), *(t.result(f's{{n:03}}') for n in range(60)))"
)


@pytest.mark.exhaustive
def test_killed_at_any_moment_and_started_again_the_gradebook_is_the_same(folder, tmp_path_factory):
    whole = tmp_path_factory.mktemp("whole")
    (whole / "gradebook.db").write_bytes((folder / "gradebook.db").read_bytes())
    write(whole, *(result(f"s{n:03}") for n in range(60)))
    kills = 0
    for attempt in range(10):
        command = [sys.executable, "-c", _WRITE.format(sys.path, str(folder))]
        process = subprocess.Popen(command, cwd=Path(__file__).parents[4])
        time.sleep(1.0 + 0.3 * attempt)
        kills += process.poll() is None
        process.kill()
        process.wait()
        with sqlite3.connect(folder / "gradebook.db") as db:  # what is there is whole: four grades, none open but "why"
            half = "SELECT 1 FROM grade GROUP BY notebook_id HAVING COUNT(*) != 4 OR SUM(auto_score IS NULL) != 1"
            assert db.execute(half).fetchall() == []
    assert kills >= 3
    write(folder, *(result(f"s{n:03}") for n in range(60)))
    with Gradebook(folder) as killed, Gradebook(whole) as unharmed:
        assert killed.grades() == unharmed.grades()
