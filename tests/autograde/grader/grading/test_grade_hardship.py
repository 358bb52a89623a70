"""A locked gradebook, a full disk, a clock that jumps: the grader reports each, and continues afterwards."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager

import pytest
from grade_class import EXPECTED, NAME, copied, opened, outcome, small_class

from autograde.grader.book.gradebook import Gradebook
from autograde.grader.grading.grade import grade

pytestmark = pytest.mark.exhaustive


@pytest.fixture(scope="module")
def calm(tmp_path_factory, launcher):
    """The class, graded in peace."""
    course = small_class(tmp_path_factory.mktemp("calm"))
    grade(opened(course), launcher)
    return course


@pytest.fixture
def course(calm, tmp_path):
    """The same class before it is graded: a copy of the course without records, and its gradebook from before."""
    return small_class(tmp_path / "course")


def _grade_by_command(course, patience: str = ""):
    """`autograde grade` in a process of its own; patience: seconds it waits for a locked gradebook."""
    program = "from autograde.grader.book import database; from autograde.cli import main\n"
    program += f"database.Database.__init__.__defaults__ = ({patience},)\n" * bool(patience)
    words = [sys.executable, "-c", program + "main()", "grade", NAME, "--course", str(course), "--json"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    report = json.loads(done.stdout)[NAME] if done.stdout.startswith("{") else None
    return done, report


@contextmanager
def _locked(course):
    with closing(sqlite3.connect(course / "gradebook.db", isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN EXCLUSIVE")
        yield other
        other.execute("ROLLBACK")


def test_a_gradebook_that_is_locked_for_a_while_is_waited_for(course, calm, launcher):
    with Gradebook(course):  # its tables are there
        pass
    held = threading.Event()

    def hold():
        with _locked(course):
            held.set()
            time.sleep(6)

    other = threading.Thread(target=hold)
    other.start()
    held.wait()
    report = grade(opened(course), launcher)
    other.join()
    assert report.graded == len(EXPECTED) and not report.failures
    assert outcome(course) == outcome(calm)


def test_a_gradebook_that_stays_locked_is_named_and_nothing_is_lost(course, calm):
    with Gradebook(course):
        pass
    with _locked(course):
        done, report = _grade_by_command(course, patience="2.0")
        said = done.stderr + done.stdout
        assert done.returncode != 0 and "locked by another program" in said and "Traceback" not in said
    done, report = _grade_by_command(course)
    assert done.returncode == 0, done.stderr
    assert outcome(course) == outcome(calm) and outcome(course)[0] == EXPECTED


@contextmanager
def _small_disk(folder, size):
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may make a small disk")
def test_a_full_disk_is_named_and_what_was_written_before_stays(course, calm, tmp_path):
    with _small_disk(tmp_path / "small", "8m") as small:
        there = copied(course, small / "course")
        filler = small / "filler"
        spare = shutil.disk_usage(small).free - 40_000  # enough for a record, not for a notebook
        filler.write_bytes(bytes(spare))
        done, report = _grade_by_command(there)
        said = done.stderr + done.stdout
        assert done.returncode == 1 and "Traceback" not in said, said
        assert report["failures"] and all("No space left" in reason or "disk is full" in reason
                                          for _, reason in report["failures"]), report  # fmt: skip
        filler.unlink()
        done, report = _grade_by_command(there)
        assert done.returncode == 0, done.stderr
        assert outcome(there) == outcome(calm)


def test_a_clock_that_jumps_changes_no_grade_and_grades_nobody_twice(course, calm, launcher):
    grade(opened(course), launcher, students=["right", "broken"])
    for year, path in enumerate(sorted(course.rglob("*.*"))):
        moment = time.time() + (year % 2 * 2 - 1) * 20 * 365 * 86400  # twenty years ago, or ahead
        os.utime(path, (moment, moment))
    report = grade(opened(course), launcher)
    assert (report.graded, report.up_to_date) == (2, 2)
    assert outcome(course) == outcome(calm)
