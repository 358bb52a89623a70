"""Formgrader in real servers, one for each grader: whose points the gradebook has, and which were replaced."""

import csv
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from grader_course import TEMPLATES, make_gradebook, release, run

from autograde.grader.book.course import make_course
from autograde.grader.book.gradebook import Gradebook
from autograde.grader.book.manual_points import SHARES
from autograde.grader.grading.results import Result
from autograde.judging.verdict import Verdict
from autograde.nbgrader_plugin import formgrader_names

NOTEBOOK = "03_attention"


@pytest.fixture
def course(tmp_path):
    """ada and ben, graded; the part `why` waits for points by hand."""
    folder = tmp_path / "course"
    release(folder)
    make_gradebook(folder)
    make_course(folder)
    verdicts = [Verdict(name, f"3.1 {name}", "passed", most, most) for name, most in (("scores", 3), ("why", 2))]
    with Gradebook(folder) as book:
        for student in ("ada", "ben"):
            result = Result("ps3", student, NOTEBOOK, tuple(verdicts))
            book.write("ps3", student, [result], TEMPLATES)
            result.save(folder)
    return folder


class Formgrader:
    """Asks a running server as formgrader's page does."""

    def __init__(self, address: str):
        self.address = address

    def ask(self, path: str, **sent):
        """The answer to a GET, or to a PUT of what is sent."""
        request = urllib.request.Request(
            f"{self.address}/formgrader/api/{path}",
            data=json.dumps(sent).encode() if sent else None,
            headers={"Authorization": "token secret", "Content-Type": "application/json"},
            method="PUT" if sent else "GET",
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())

    def _id(self, course: Path, kind: str, student: str, cell: str) -> str:
        with Gradebook(course) as book:
            notebook = book.book.find_submission_notebook(NOTEBOOK, "ps3", student).id
        return next(one["id"] for one in self.ask(f"{kind}s?submission_id={notebook}") if one["name"] == cell)

    def give(self, course: Path, student: str, cell: str, points: float | None) -> None:
        self.ask(f"grade/{self._id(course, 'grade', student, cell)}", manual_score=points)

    def comment(self, course: Path, student: str, cell: str, text: str) -> None:
        self.ask(f"comment/{self._id(course, 'comment', student, cell)}", manual_comment=text)


@contextmanager
def formgrader(course: Path, grader: str):
    """A Jupyter server that is started in the course, with formgrader."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {"AUTOGRADE_GRADER": grader, "JUPYTER_CONFIG_DIR": str(course.parent / "settings"),
                "PYTHONPATH": str(Path(__file__).parents[3])}  # fmt: skip
    server = subprocess.Popen(
        [sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root", f"--port={port}",
         "--IdentityProvider.token=secret", f"--ServerApp.root_dir={course}",
         "--ServerApp.jpserver_extensions={'nbgrader.server_extensions.formgrader': True}"],
        cwd=course, env=os.environ | settings, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        asked = Formgrader(f"http://127.0.0.1:{port}")
        _wait(asked, server)
        yield asked
    finally:
        server.terminate()
        server.wait(30)


def _wait(asked: Formgrader, server) -> None:
    end = time.monotonic() + 120
    while time.monotonic() < end:
        try:
            asked.ask("status")
            return
        except OSError:
            assert server.poll() is None, "the server ended at once"
            time.sleep(0.1)
    raise TimeoutError("the server does not answer")


def given(course) -> dict[str, str]:
    """Grader → how many parts have points or comments of this grader's."""
    rows = [line.split() for line in run(course, "points", "ps3").splitlines()[1:]]
    return {row[0]: row[2] for row in rows if row[0] != "look"}


def _enter(course: Path, grader: str, student: str, points: str) -> str:
    """Fills one row of the grader's sheet, enters the sheet and returns what could not be entered."""
    path = course / f"sheets/ps3-{grader}.csv"
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["points"] = points if row["student"] == student else row["points"]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return run(course, "points", "ps3", path, code=1)


@pytest.mark.slow
def test_graders_are_known_by_name_and_points_that_replace_anothers_are_listed(course):
    run(course, "split", "ps3", "--grader", "cara")
    with formgrader(course, "ann") as ann, formgrader(course, "bob") as bob:
        ann.give(course, "ada", "why", 2)
        ann.comment(course, "ada", "why", "Clear.")
        ann.give(course, "ben", "check_scores", 1)
        assert given(course) == {"ann": "2", "cara": "0"}
        bob.give(course, "ada", "why", 1)
        bob.comment(course, "ben", "why", "Later.")
    said = run(course, "points", "ps3")
    assert given(course) == {"ann": "1", "bob": "2", "cara": "0"}
    assert 'look at: ada, why: ann gave 2 points, "Clear."; bob then gave 1 point, "Clear." in formgrader' in said
    assert "ben" not in said
    assert 'ada, why: since the sheet was written bob gave 1 point, "Clear."' in _enter(course, "cara", "ada", "2")
    run(course, "points", "ps3", "--student", "ada", "--exercise", "why", "--score", "2", "--grader", "ann")
    assert "look at" not in run(course, "points", "ps3")  # ann has seen it


@pytest.mark.slow
def test_points_that_are_taken_back_and_points_outside_the_part(course):
    with formgrader(course, "ann") as ann:
        ann.give(course, "ada", "why", 2)
        ann.give(course, "ada", "why", None)
        ann.give(course, "ben", "check_scores", 99)  # formgrader's page sends the most instead
    said = run(course, "points", "ps3")
    assert given(course)["ann"] == "1"
    assert "look at: ben, scores: 99 points by hand; the part has 0 to 3" in said
    assert [one.points for one in SHARES.load(course, "ps3").given] == [2, None, 99]


@pytest.mark.slow
def test_points_count_where_the_grader_cannot_be_recorded(course):
    with formgrader(course, "ann") as ann:
        damaged = course / ".autograde/by_hand/ps3.json"
        damaged.parent.mkdir()
        damaged.write_text("{")
        ann.give(course, "ada", "why", 1)
        damaged.unlink()
    assert given(course)["formgrader"] == "1"


def test_on_a_hub_the_grader_is_who_asks_not_whose_server_it_is(monkeypatch):
    tara, anonymous = SimpleNamespace(username="tara"), SimpleNamespace(username="0b8f5c", name="Anonymous Io")
    monkeypatch.setenv("JUPYTERHUB_USER", "teacher")
    assert formgrader_names.grader_of(tara) == "tara"
    monkeypatch.delenv("JUPYTERHUB_USER")
    monkeypatch.setenv("LOGNAME", "teacher")
    assert formgrader_names.grader_of(anonymous) == "teacher"
    monkeypatch.setenv("AUTOGRADE_GRADER", "ann")
    assert formgrader_names.grader_of(tara) == "ann"
