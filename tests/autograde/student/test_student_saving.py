"""A student's work is neither lost nor damaged: in one file, in a Drive, by hand, by kills and checks at once."""

import ast
import importlib
import json
import os
import signal
import stat
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from student_notebook import ROWS, SCORES, Notebook, course_folder, module_of, two_checked  # noqa: F401 (a fixture)

from autograde.boundary import mybert_importer
from autograde.student import home, progress_file, saving, store
from autograde.student.kept_answers import KeptAnswer

pytestmark = pytest.mark.usefixtures("course")
ROOT = Path(__file__).resolve().parents[3]


def _some_work(course):
    two_checked()
    return {path.relative_to(course): path.read_bytes() for path in course.rglob("*") if path.is_file()}


def another_machine(tmp_path, monkeypatch):
    """The folder of a notebook on a machine that has nothing of the course."""
    (tmp_path / "content").mkdir()
    monkeypatch.chdir(tmp_path / "content")
    return tmp_path / "content"


def _parsed(files):
    """JSON files by what they say: the order of their lines does not count."""
    return {name: json.loads(content) if name.suffix == ".json" else content for name, content in files.items()}


def test_a_saved_state_brings_everything_back_on_another_machine(course, tmp_path, monkeypatch):
    work = _some_work(course)
    said = saving.save_state(tmp_path / "state.zip")
    assert repr(said).startswith("Saved 2 answers and your progress in")
    assert saving.save_state(tmp_path / "again.zip").path.read_bytes() == said.path.read_bytes()
    other = another_machine(tmp_path, monkeypatch)
    assert repr(saving.load_state(said.path)) == f"Loaded 2 answers from state.zip into {other / 'mybert'}."
    there = {path.relative_to(other): path.read_bytes() for path in other.rglob("*") if path.is_file()}
    assert _parsed(there) == _parsed(work)


def test_loading_adds_to_what_is_there_and_takes_nothing_away(course, tmp_path, monkeypatch):
    _some_work(course)
    path = course / "mybert/attention.py"
    edited = path.read_text() + "MINE = 1\n"
    path.write_text(edited)
    saving.save_state(tmp_path / "state.zip")
    other = another_machine(tmp_path, monkeypatch)
    newer = SCORES + "\n    # newer"
    Notebook().run(newer).check("attention_scores")
    assert repr(saving.load_state(tmp_path / "state.zip")).startswith("Loaded 1 answer from")
    text = (other / "mybert/attention.py").read_text()
    assert "# newer" in text and "def add_to_rows" in text
    (copy,) = (other / "mybert").glob("attention.edited-*.py")
    assert copy.read_text() == edited and progress_file.load()["add-to-rows"]["points"] == 2


ATTACKS = {
    "out": ("../x.py", b"x"),
    "absolute": ("/tmp/x.py", b"x"),
    "windows": ("mybert\\..\\..\\x.py", b"x"),
    "within": ("mybert/../x.py", b"x"),
    "start-up file": ("sitecustomize.py", b"x"),
    "notebook": ("03_attention/03_attention.ipynb", b"{}"),
    "compiled": ("mybert/attention.pyc", b"x"),
    "hidden": ("mybert/.git/config", b"x"),
    "another's answer": ("mybert/.kept/scores.json", b'{"exercise": "other"}'),
    "no answer": ("mybert/.kept/scores.json", b"[" * 100_000),
    "progress": (".course_progress.json", b"no json"),
    "large": ("mybert/attention.py", b"#" * (1 << 20) + b"x"),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_file_with_anything_else_in_it_changes_nothing(course, tmp_path, attack):
    with zipfile.ZipFile(tmp_path / "bad.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mybert/encoder.py", "x = 1\n")
        archive.writestr(*ATTACKS[attack])
    with pytest.raises(saving.StateError, match="nothing was loaded"):
        saving.load_state(tmp_path / "bad.zip")
    assert [path for path in course.rglob("*") if path.is_file()] == [] and not (tmp_path / "x.py").exists()


def test_a_link_in_a_saved_state_becomes_no_link_and_a_bomb_is_not_unpacked(course, tmp_path):
    link = zipfile.ZipInfo("mybert/attention.py")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "link.zip", "w") as archive:
        archive.writestr(link, "/etc/passwd")
    saving.load_state(tmp_path / "link.zip")
    assert not (course / "mybert/attention.py").is_symlink()
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(40):
            archive.writestr(f"mybert/m{number}.py", b"\n" * (1 << 20))
    with pytest.raises(saving.StateError, match="too large"):
        saving.load_state(tmp_path / "bomb.zip")
    for name, content in {"empty": b"", "text": b"hello", "cut": (tmp_path / "bomb.zip").read_bytes()[:2000]}.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(saving.StateError):
            saving.load_state(tmp_path / name)
    with pytest.raises(saving.StateError, match="save_state"):
        saving.load_state(tmp_path / "nothing.zip")


def test_a_drive_that_is_refused_ends_in_a_sentence_and_the_home_stays(course, tmp_path, monkeypatch):
    """Colab's module exists on Colab only; this replaces the one call of it, and fails in the same way."""

    def mount(folder):
        raise ValueError("mount failed")

    colab = SimpleNamespace(drive=SimpleNamespace(mount=mount))
    for name, module in (("google.colab", colab), ("google", SimpleNamespace(colab=colab, __path__=[]))):
        monkeypatch.setitem(sys.modules, name, module)
    before = home.find()
    said = saving.keep_in_drive(drive=tmp_path / "MyDrive")
    assert "mount failed" in said and "save_state()" in said and home.find() == before


def test_a_folder_of_the_drive_becomes_the_home_and_what_is_there_comes_along(course, tmp_path, monkeypatch):
    for name in (home.VARIABLE, "BERTLAB_CACHE"):  # so that what keep_in_drive sets is taken back
        monkeypatch.setenv(name, "")
    drive = tmp_path / "MyDrive"
    with pytest.raises(saving.StateError, match="outside of Colab"):
        saving.keep_in_drive(drive=drive)
    drive.mkdir()
    Notebook().run(SCORES).check("attention_scores")
    saving.keep_in_drive("BertLab", drive)
    assert home.find() == drive / "BertLab"
    assert "def attention_scores" in (drive / "BertLab/mybert/attention.py").read_text()
    Notebook().run(ROWS).check("add_to_rows")
    assert set(store.load(drive / "BertLab")) == {"scores", "add-to-rows"} and set(store.load(course)) == {"scores"}
    assert progress_file.load()["scores"]["points"] == 3
    from mybert.attention import add_to_rows

    assert add_to_rows(1, 2) == 3


# --- the package ---


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
    two_checked()
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
    path = os.pathsep.join(map(str, (ROOT, ROOT / "tests/support")))
    environment = os.environ | {"PYTHONPATH": path, "TF_CPP_MIN_LOG_LEVEL": "3"}
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
