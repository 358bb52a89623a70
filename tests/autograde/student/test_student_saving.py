"""Machines that forget: a student's work in one file, and in a Drive."""

import json
import stat
import sys
import zipfile
from types import SimpleNamespace

import pytest
from student_notebook import ROWS, SCORES, Notebook, course_folder  # noqa: F401 (a fixture)

from autograde.student import home, progress_file, saving, store

pytestmark = pytest.mark.usefixtures("course")


def _some_work(course):
    notebook = Notebook().run(SCORES).run(ROWS)
    notebook.check("attention_scores"), notebook.check("add_to_rows")
    return {path.relative_to(course): path.read_bytes() for path in course.rglob("*") if path.is_file()}


def test_a_saved_state_brings_everything_back_on_another_machine(course, tmp_path, monkeypatch):
    work = _some_work(course)
    said = saving.save_state(tmp_path / "state.zip")
    assert repr(said).startswith("Saved 2 answers and your progress in")
    assert saving.save_state(tmp_path / "again.zip").path.read_bytes() == said.path.read_bytes()
    other = tmp_path / "content"
    other.mkdir()
    monkeypatch.chdir(other)
    assert repr(saving.load_state(said.path)) == f"Loaded 2 answers from state.zip into {other / 'mybert'}."
    there = {path.relative_to(other): path.read_bytes() for path in other.rglob("*") if path.is_file()}
    assert {name: json.loads(content) for name, content in there.items() if name.suffix == ".json"} == {
        name: json.loads(content) for name, content in work.items() if name.suffix == ".json"
    }
    assert {n: c for n, c in there.items() if n.suffix != ".json"} == {
        n: c for n, c in work.items() if n.suffix != ".json"
    }


def test_loading_adds_to_what_is_there_and_takes_nothing_away(course, tmp_path, monkeypatch):
    _some_work(course)
    path = course / "mybert/attention.py"
    edited = path.read_text() + "MINE = 1\n"
    path.write_text(edited)
    saving.save_state(tmp_path / "state.zip")
    other = tmp_path / "content"
    other.mkdir()
    monkeypatch.chdir(other)
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
    assert (
        home.find() == drive / "BertLab"
        and "def attention_scores" in (drive / "BertLab/mybert/attention.py").read_text()
    )
    Notebook().run(ROWS).check("add_to_rows")
    assert set(store.load(drive / "BertLab")) == {"scores", "add-to-rows"} and set(store.load(course)) == {"scores"}
    assert progress_file.load()["scores"]["points"] == 3
    from mybert.attention import add_to_rows

    assert add_to_rows(1, 2) == 3
