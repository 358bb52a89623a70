"""The loop over a class: everything once, through kills, faults and changed files; then nbgrader's own way in."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from click.testing import CliRunner
from grade_class import (
    EXPECTED,
    NAME,
    NOTEBOOK,
    POINTS,
    copied,
    grades_of,
    hand_in,
    open_shared_launcher,
    opened,
    records_of,
    result_of,
    small_class,
    solved,
    verdict_of,
)

from autograde.cli import cli
from autograde.common.errors import InputError, SandboxError
from autograde.exercises import catalogue
from autograde.grader.book.gradebook import Gradebook
from autograde.grader.grading.grade import anything_new, find_submissions, grade
from autograde.grader.grading.notebook_grading import Graded
from autograde.grader.grading.regrade import regrade
from autograde.grader.grading.results import Result
from autograde.grader.hand_ins.hand_in import digest
from autograde.grader.reading.repair import read_submission
from autograde.judging.verdict import Verdict
from autograde.release import editions
from autograde.sandbox.launchers import SharedLauncher


@pytest.fixture(scope="module")
def pattern(tmp_path_factory):
    return small_class(tmp_path_factory.mktemp("pattern"))


@pytest.fixture
def course(pattern, tmp_path):
    return copied(pattern, tmp_path / "course")


@pytest.mark.slow
def test_a_class_is_graded_once_with_two_workers_as_with_one(course, launcher, tmp_path):
    seen = []
    assert anything_new(opened(course))
    report = grade(opened(course), launcher, progress=lambda *where: seen.append(where))
    assert (report.graded, report.technical, report.failures) == (4, 2, [])
    assert grades_of(course) == EXPECTED and [done for _, done, _ in seen] == [1, 2, 3, 4]
    assert not anything_new(opened(course)) and grade(opened(course), launcher).up_to_date == 4
    with SharedLauncher(lambda: pytest.fail("a sandbox was opened for nothing")) as none_needed:
        assert grade(opened(course), none_needed).up_to_date == 4

    other = copied(course, tmp_path / "other")
    assert grade(opened(other), launcher, workers=2, again=True).graded == 4
    assert grades_of(other) == EXPECTED and records_of(other) == records_of(course)


@pytest.mark.slow
def test_only_what_changed_is_graded_again_and_only_whom_was_asked_for(course, launcher):
    assert grade(opened(course), launcher, ["right"]).graded == 1
    hand_in(course, "right", editions.make(NOTEBOOK).student)
    report = grade(opened(course), launcher, ["right", "broken"])
    assert (report.graded, report.up_to_date) == (2, 0)
    assert grades_of(course)["right"] == 0
    with pytest.raises(InputError, match="no submission of nobody"):
        find_submissions(opened(course), ["nobody"])


def test_a_notebook_under_another_name_is_listed(course, launcher):
    hand_in(course, "renamed", b"{}").rename(course / "submitted/renamed" / NAME / "Untitled3.ipynb")
    report = grade(opened(course), launcher, ["renamed", "broken"])
    assert report.graded == 1 and report.failures == [
        ("renamed", "expected 03_attention.ipynb among the submitted files"),
    ]


@pytest.mark.slow
def test_a_fault_in_one_submission_is_listed_and_the_others_are_graded(course, launcher, monkeypatch):
    from autograde.grader.grading import grade as module

    real = module.grade_file

    def faulty(assignment, item, path, launcher, *more):
        if item.student == "wrong":
            raise ZeroDivisionError("a fault of ours")
        if item.student == "deadly":
            raise SandboxError("no sandbox is available")
        return real(assignment, item, path, launcher, *more)

    monkeypatch.setattr(module, "grade_file", faulty)
    report = grade(opened(course), launcher, workers=2)
    assert report.graded == 2 and sorted(student for student, _ in report.failures) == ["deadly", "wrong"]
    assert "ZeroDivisionError" in (course / "results" / NAME / "faults/wrong.txt").read_text()
    monkeypatch.undo()
    assert grade(opened(course), launcher).graded == 2 and grades_of(course) == EXPECTED


@pytest.mark.slow
def test_a_lost_zygote_is_replaced(course):
    with open_shared_launcher() as launcher:
        os.kill(launcher.open()._process.pid, signal.SIGKILL)  # as the kernel does when memory is short
        assert grade(opened(course), launcher, ["right"]).graded == 1
    assert grades_of(course) == {"right": EXPECTED["right"]}


def test_where_no_sandbox_works_nothing_is_run_and_everything_is_listed(course):
    report = grade(opened(course), SharedLauncher(_none), ["right", "broken"])
    assert [student for student, _ in report.failures] == ["right"]  # a broken file needs no sandbox
    assert not (course / "results" / NAME / "right").exists()


def _none():
    raise SandboxError("no sandbox works here")


def test_times_are_stored_in_utc_and_a_text_that_is_not_a_time_costs_nobody_a_grade(course):
    """`report` and `feedback` ended with an error for the whole class, and "tomorrow" was never graded."""
    written = {
        "ada": "2026-01-30 12:00:00 CET",
        "ben": "2026-01-30 12:00:00+02:00",
        "cleo": "2026-01-30 12:00:00.250000 UTC",
        "dora": "tomorrow",
        "eli": "0001-01-01 00:00",
    }
    for student, text in written.items():
        hand_in(course, student, "hello").with_name("timestamp.txt").write_text(text)
    report = grade(opened(course), SharedLauncher(_none), written)
    assert (report.graded, report.failures) == (5, [])
    results = {student: result_of(course, student) for student in written}
    assert {student: one.handed_in for student, one in results.items()} == {
        "ada": "2026-01-30 11:00:00 UTC",
        "ben": "2026-01-30 10:00:00 UTC",
        "cleo": "2026-01-30 12:00:00.250000 UTC",
        "dora": "",
        "eli": "",
    }
    said = {student for student, one in results.items() if "has no time such as" in " ".join(one.repairs)}
    assert said == {"dora", "eli"}
    replace(results["ada"], handed_in="2026-01-30 12:00:00 CET").save(course)  # as an earlier version stored it
    replace(results["ben"], handed_in="2026-01-30 12:00:00+02:00").save(course)
    for command in ("report", "feedback"):
        outcome = CliRunner().invoke(cli, [command, NAME, "--course", str(course)], catch_exceptions=False)
        assert outcome.exit_code == 0
    page = course / "feedback/ben" / NAME / f"{NOTEBOOK}.html"
    assert "handed in 2026-01-30 10:00 UTC" in page.read_text(encoding="utf-8")


def test_a_damaged_record_leads_to_grading_again(course):
    grade(opened(course), SharedLauncher(_none), ["broken"])
    record = result_of(course, "broken")
    record.path(course).write_text("{")
    report = grade(opened(course), SharedLauncher(_none), ["broken"])
    assert (report.graded, report.failures) == (1, []) and result_of(course, "broken").problem == record.problem


@pytest.mark.slow
def test_regrading_writes_what_changed_and_leaves_what_people_gave(course, launcher):
    assignment = opened(course)
    grade(assignment, launcher)
    with Gradebook(course) as course_book:
        book = course_book.book
        for name, student in (("check-masked-attention", "right"), ("check-scores", "wrong")):
            mark = book.find_grade(name, NOTEBOOK, NAME, student)
            mark.manual_score, mark.extra_credit = 1.5, 0.5
        book.db.commit()
    before = records_of(course)
    assert regrade(assignment, catalogue.find("scores"), launcher).same == 3
    assert records_of(course) == before

    tampered = result_of(course, "right")
    lost = tuple(replace(v, points=0.0, status="wrong") if v.exercise == "scores" else v for v in tampered.verdicts)
    replace(tampered, verdicts=lost).save(course)
    report = regrade(assignment, catalogue.find("scores"), launcher)
    (change,) = report.changed
    assert (change.student, change.before, change.after) == ("right", 0, 3) and report.same == 2
    assert verdict_of(course, "right", "scores").passed
    assert grades_of(course) == EXPECTED | {"right": EXPECTED["right"] - 4 + 2, "wrong": EXPECTED["wrong"] + 2}

    hand_in(course, "deadly", editions.make(NOTEBOOK).source)
    assert regrade(assignment, catalogue.find("scores"), launcher).outdated == ["deadly"]


def test_a_sandbox_killed_while_regrading_costs_no_points_and_is_listed(course):
    exercise, path = catalogue.find("scores"), hand_in(course, "jane", solved())
    passed = Verdict("scores", "3.1 scores", "passed", 3, 3)
    record = Result(NAME, "jane", NOTEBOOK, (passed,), sha256=digest(path))
    record.save(course)
    killed = replace(record, verdicts=(replace(passed, status="technical", points=0.0),), again=True)

    def again(assignment, result, names):
        return lambda: Graded(killed, read_submission(path, assignment.templates[NOTEBOOK]))

    report = regrade(opened(course), exercise, None, again=again)
    assert report.failures == [("jane", "a sandbox was killed from outside; run it again")] and not report.changed
    assert records_of(course) == [record]


def test_an_unknown_student_is_named_before_anything_is_regraded(course):
    with pytest.raises(InputError, match="03_attention of right is not graded"):
        regrade(opened(course), catalogue.find("scores"), None, ["right"])


def _command(course, *arguments):
    words = [sys.executable, "-m", "autograde", "grade", NAME, "--course", str(course), *arguments]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.exhaustive
def test_killed_at_any_moment_and_started_again_it_ends_with_the_same_gradebook(course, launcher, tmp_path):
    calm = copied(course, tmp_path / "calm")
    grade(opened(calm), launcher)
    for seconds in (5, 6, 6.5, 7, 7.5, 8, 9):
        run = _command(course, "--workers", "2")
        time.sleep(seconds)
        run.send_signal(signal.SIGKILL)
        run.communicate()
    last = _command(course)
    said, complaints = last.communicate(timeout=120)
    assert last.returncode == 0, complaints
    assert grades_of(course) == grades_of(calm) == EXPECTED and records_of(course) == records_of(calm)


@pytest.mark.exhaustive
def test_a_cluster_gives_the_same_grades(course, launcher, tmp_path):
    distributed = pytest.importorskip("distributed")
    calm = copied(course, tmp_path / "calm")
    grade(opened(calm), launcher)
    with distributed.LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=None) as workers:
        arguments = ["grade", NAME, "--course", str(course), "--scheduler", workers.scheduler_address]
        run = CliRunner().invoke(cli, arguments)
    assert run.exit_code == 0, run.output
    assert grades_of(course) == EXPECTED and records_of(course) == records_of(calm)
    nobody = CliRunner().invoke(cli, [*arguments[:-1], "tcp://127.0.0.1:9"])
    assert "no Dask scheduler answers" in str(nobody.exception)


@pytest.mark.exhaustive
def test_bare_nbgrader_autograde_takes_the_safe_path(course, launcher, tmp_path):
    calm = copied(course, tmp_path / "calm")
    grade(opened(calm), launcher)
    witness = tmp_path / "witness"
    (tmp_path / "secret").write_text("of the instructor")
    spying = f"open({str(witness)!r}, 'w').write('I ran as the instructor')"
    spy = hand_in(course, "spy", solved(after={"scores": spying}))
    (spy.parent / "notes.txt").symlink_to(tmp_path / "secret")
    program = os.path.join(os.path.dirname(sys.executable), "nbgrader")
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    run = subprocess.run([program, "autograde", NAME], cwd=course, capture_output=True, text=True,
                         env=os.environ | {"PATH": path})  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert not witness.exists() and not (course / "autograded/spy" / NAME / "notes.txt").exists()
    assert grades_of(course) == EXPECTED | {"spy": POINTS}
    assert [r for r in records_of(course) if r.student != "spy"] == records_of(calm)
    shown = json.loads((course / "autograded/wrong" / NAME / f"{NOTEBOOK}.ipynb").read_text())
    text = json.dumps(shown)
    assert "attention_scores" in text and "0 / 3" in text


@pytest.mark.exhaustive
def test_formgraders_button_takes_the_safe_path_and_keeps_manual_scores(course, launcher):
    from nbgrader.apps.api import NbGraderAPI
    from nbgrader.apps.nbgraderapp import NbGraderApp

    before = os.getcwd()
    os.chdir(course)
    try:
        app = NbGraderApp()
        app.load_config_file()
        app.config.CourseDirectory.root = str(course)
        api = NbGraderAPI(config=app.config)
        with Gradebook(course):
            made = api.autograde(NAME, "wrong")
        assert made["success"], made
        (shown,) = [row for row in api.get_submissions(NAME) if row["student"] == "wrong"]
        assert shown["autograded"] and shown["score"] == EXPECTED["wrong"]
        with Gradebook(course) as course_book:
            mark = course_book.book.find_grade("check-scores", NOTEBOOK, NAME, "wrong")
            mark.manual_score = 2
            course_book.book.db.commit()
        assert api.autograde(NAME, "wrong")["success"]
        (shown,) = [row for row in api.get_submissions(NAME) if row["student"] == "wrong"]
        assert shown["score"] == EXPECTED["wrong"] + 2
    finally:
        os.chdir(before)
        shutil.rmtree(course / "autograded", ignore_errors=True)
