"""Nothing damages the student's own package: edits by hand, bad files, kills, checks at the same time."""

import ast
import importlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from student_notebook import ROWS, SCORES, Notebook, course_folder, module_of  # noqa: F401 (a fixture)

from autograde.boundary import mybert_importer
from autograde.student import home, store
from autograde.student.kept_answers import KeptAnswer

pytestmark = pytest.mark.usefixtures("course")
ROOT = Path(__file__).resolve().parents[3]


def test_a_file_edited_by_hand_is_never_written_over_without_a_copy(course):
    notebook = Notebook().run(SCORES)
    notebook.check("attention_scores")
    path = course / "mybert/attention.py"
    edited = path.read_text().replace("** 0.5", "** 0.5  # mine")
    path.write_text(edited)
    assert notebook.check("attention_scores").kept == "Kept in mybert/attention.py." and path.read_text() == edited
    store.repair(course)
    assert path.read_text() == edited
    kept = notebook.run(ROWS).check("add_to_rows").kept
    (copy,) = (course / "mybert").glob("attention.edited-*.py")
    assert copy.read_text() == edited and copy.name in kept and "def add_to_rows" in path.read_text()


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"def (", b"# generated 0123456789abcdef from scores\nx = 1\n"])
def test_anything_found_in_a_module_is_kept_aside(course, content):
    (course / "mybert").mkdir()
    (course / "mybert/attention.py").write_bytes(content)
    assert "your version is in mybert/attention.edited-" in Notebook().run(SCORES).check("attention_scores").kept
    (copy,) = (course / "mybert").glob("attention.edited-*.py")
    assert copy.read_bytes() == content


DAMAGED = ["", "[]", "{", '{"exercise": "../x"}', '{"exercise": 3, "names": [], "cells": []}',
           '{"exercise": 3, "names": [], "statements": 1}']  # fmt: skip


@pytest.mark.parametrize("content", DAMAGED)
def test_a_damaged_answer_is_left_out(course, content):
    notebook = Notebook().run(SCORES)
    notebook.check("attention_scores")
    (course / "mybert/.kept/scores.json").write_text(content)
    assert store.load(course) == {}
    before = module_of(course)
    notebook.run(ROWS).check("add_to_rows")  # the module would lose a piece: the old one is kept beside
    (copy,) = (course / "mybert").glob("attention.edited-*.py")
    assert copy.read_text() == before


def test_what_a_killed_check_left_out_is_written_by_the_next(course):
    notebook = Notebook().run(SCORES).run(ROWS)
    notebook.check("attention_scores"), notebook.check("add_to_rows")
    whole = {path: path.read_bytes() for path in (course / "mybert").rglob("*.*") if path.is_file()}
    for path in whole:
        if path.suffix != ".json":
            path.unlink()
    store.activate_mybert()
    importlib.import_module("mybert")
    assert {path: path.read_bytes() for path in whole} == whole


WRITER = """
import sys
from student_notebook import Notebook, SCORES, ROWS
name, number = sys.argv[1:]
notebook = Notebook()
while True:
    source = SCORES if name == "attention_scores" else ROWS
    kept = notebook.run(f"{source}\\n    # {number} {'-' * 3000}").check(name).kept
    assert kept == "Kept in mybert/attention.py.", kept
    number = int(number) + 1
    print("checked", flush=True)
"""


def _writer(name, number=0):
    environment = os.environ | {"PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}
    words = [sys.executable, "-c", WRITER, name, str(number)]
    return subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _whole(course):
    """The package is one that can be imported, every file of it as some check left it."""
    for path in (course / "mybert").glob("*.py"):
        ast.parse(path.read_text())
        assert path.name == "__init__.py" or store.is_generated(path.read_text()), path
    for path in (course / "mybert/.kept").glob("*.json"):
        KeptAnswer.from_dict(json.loads(path.read_text()))
    mybert_importer.activate(home.find)
    return importlib.import_module("mybert.attention")


@pytest.mark.exhaustive
def test_killed_and_concurrent_checks_never_damage_the_package(course):
    for kill in range(3):
        writers = [_writer("attention_scores", 1000 * kill), _writer("add_to_rows", 1000 * kill)]
        for writer in writers:
            assert writer.stdout.readline() == "checked\n", writer.stderr.read()
        until = time.monotonic() + 4
        while time.monotonic() < until:
            if (course / "mybert/attention.py").exists():
                _whole(course)
        for writer in writers:
            assert writer.poll() is None, writer.stderr.read()
            writer.send_signal(signal.SIGKILL)
            writer.communicate()
        store.repair(course)
        module = vars(_whole(course))
        assert "attention_scores" in module and "add_to_rows" in module
    assert not list((course / "mybert").glob("*.edited-*"))


def test_killed_at_every_write_the_package_stays_whole(course, monkeypatch):
    """The same, step by step: the process ends before the n-th file is put in place."""

    class Killed(BaseException):
        pass

    real = os.replace
    for limit in range(8):
        left = [limit]

        def replace_or_die(source, target, left=left):
            if left[0] == 0:
                raise Killed
            left[0] -= 1
            real(source, target)

        notebook = Notebook().run(SCORES + f"\n    # {limit}").run(ROWS + f"\n    # {limit}")
        monkeypatch.setattr(os, "replace", replace_or_die)
        for name in ("attention_scores", "add_to_rows"):
            try:
                notebook.check(name)
            except Killed:
                pass
        monkeypatch.setattr(os, "replace", real)
        if (course / "mybert/attention.py").exists():
            _whole(course)
    store.repair(course)
    assert {"attention_scores", "add_to_rows"} <= set(vars(_whole(course)))
