"""Attacks of students on their folders in nbgrader's exchange: each works on its own commands, none on ours.

Those on `timestamp.txt` and `submission_secret.txt` were first seen to succeed at 722d9dce, on `CollectSafely` too.
"""

import os
import shutil
from pathlib import Path

import pytest
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange.default import ExchangeCollect, ExchangeReleaseFeedback
from nbgrader.utils import notebook_hash

from autograde.grader.book.gradebook import Gradebook
from autograde.grader.grading.results import Result
from autograde.grader.pages.feedback import write_feedback
from autograde.nbgrader_plugin.exchange import CollectSafely, ReleaseSafely

NOTEBOOK = "03_attention.ipynb"
SOLUTION, OTHERS, MINE = "the solution", "what jane wrote", "what mallory wrote"
NOBODY = 64999  # an account that is neither the grader's nor a student's


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course with a solution and an empty gradebook."""
    folder = tmp_path_factory.mktemp("course")
    (folder / "source/ps3").mkdir(parents=True)
    (folder / "source/ps3" / NOTEBOOK).write_text(SOLUTION)
    with Gradebook(folder):
        return folder


@pytest.fixture
def hub(course, tmp_path):
    """The course, and an exchange in which jane and mallory have handed in."""
    shutil.copytree(course, tmp_path / "course")
    hand_in(tmp_path, "jane", OTHERS)
    hand_in(tmp_path, "mallory", MINE)
    return tmp_path


def hand_in(hub, student, content, day=1) -> Path:
    folder = hub / "exchange/bert/inbound" / f"{student}+ps3+2026-03-0{day} 10:00:00 UTC+x1"
    folder.mkdir(parents=True)
    (folder / NOTEBOOK).write_text(content)
    (folder / "timestamp.txt").write_text(f"2026-03-0{day} 10:00:00 UTC")
    (folder / "submission_secret.txt").write_text(f"secret of {student}")
    return folder


def collected(hub, by, **settings) -> dict[str, str]:
    """The files that the instructor then has: student/file → text."""
    course = CourseDirectory(root=str(hub / "course"), course_id="bert", assignment_id="ps3")
    collector = by(coursedir=course, root=str(hub / "exchange"), update=True, **settings)
    collector.start()
    submitted = hub / "course/submitted"
    files = [path for path in hub.glob("course/**/*") if path.is_file() and path.name == NOTEBOOK]
    return {
        str(path.relative_to(submitted)) if path.is_relative_to(submitted) else str(path.relative_to(hub)): text
        for path in files
        if (text := path.read_text()) and "source" not in path.parts
    }


HONEST = {f"jane/ps3/{NOTEBOOK}": OTHERS, f"mallory/ps3/{NOTEBOOK}": MINE}


def _inbound(hub, name="mallory+ps3+2026-03-01 10:00:00 UTC+x1") -> Path:
    return hub / "exchange/bert/inbound" / name


def _link(place, target):
    place.unlink()
    place.symlink_to(target)


def _hole(place):
    place.touch()
    os.truncate(place, 1 << 40)  # it costs its student nothing


JANES = f"jane+ps3+2026-03-01 10:00:00 UTC+x1/{NOTEBOOK}"
ATTACKS = {  # by mallory
    "link to the solution": lambda hub: _link(_inbound(hub) / NOTEBOOK, hub / "course/source/ps3" / NOTEBOOK),
    "link to another student": lambda hub: _link(_inbound(hub) / NOTEBOOK, _inbound(hub, JANES)),
    "folder that is a link": lambda hub: _inbound(hub, "mallory+ps3+2026-03-02 10:00:00 UTC+x2").symlink_to(
        hub / "course/source/ps3"
    ),
    "link that leads nowhere": lambda hub: (_inbound(hub) / "notes").symlink_to("/nowhere"),
    "pipe": lambda hub: os.mkfifo(_inbound(hub) / "notes"),
    "name without a time": lambda hub: _inbound(hub, "mallory+ps3+soon+x1").mkdir(),
    "name of nobody": lambda hub: hand_in(hub, "", MINE),
    "too many bytes": lambda hub: _hole(_inbound(hub) / "notes"),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_it_works_on_nbgraders_own_collecting(attack, hub):
    ATTACKS[attack](hub)
    try:
        got = collected(hub, ExchangeCollect, check_owner=False)
    except Exception:  # it ended the collecting for all: that was its aim
        return
    assert got != HONEST, "another student's work, the solution, or a file for no student was expected"


@pytest.mark.parametrize("attack", ATTACKS)
def test_the_same_is_left_out_here_and_everything_else_is_collected(attack, hub):
    ATTACKS[attack](hub)
    hers = {} if attack in ("link to the solution", "link to another student") else {f"mallory/ps3/{NOTEBOOK}": MINE}
    assert collected(hub, CollectSafely) == {f"jane/ps3/{NOTEBOOK}": OTHERS} | hers
    assert not (hub / "course/submitted/mallory/ps3/notes").exists()


@pytest.mark.parametrize("by", [ExchangeCollect, CollectSafely])
def test_honest_folders_are_collected_alike_and_newer_ones_replace(hub, by):
    (_inbound(hub) / "mybert").mkdir()
    (_inbound(hub) / "mybert" / NOTEBOOK).write_text("in a folder")
    assert collected(hub, by, check_owner=False) == HONEST | {f"mallory/ps3/mybert/{NOTEBOOK}": "in a folder"}
    hand_in(hub, "mallory", "a second try", day=2)
    assert collected(hub, by, check_owner=False) == HONEST | {f"mallory/ps3/{NOTEBOOK}": "a second try"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of other accounts")
def test_a_folder_of_another_account_takes_nobodys_place(hub):
    forged = hand_in(hub, "jane", MINE, day=2)
    for path in (forged, *forged.iterdir()):
        os.chown(path, NOBODY, NOBODY)
    assert collected(hub, CollectSafely) == HONEST
    assert collected(hub, CollectSafely, check_owner=False)[f"jane/ps3/{NOTEBOOK}"] == MINE  # a hub that wants it so


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of other accounts")
def test_a_second_name_for_somebody_elses_file_is_left_out(hub):
    place = _inbound(hub) / NOTEBOOK
    place.unlink()
    os.link(_inbound(hub, JANES), place)
    os.chown(place, NOBODY, NOBODY)  # that is jane's file under both names
    assert collected(hub, CollectSafely, check_owner=False) == {}


def test_what_is_left_out_is_reported_with_its_reason(hub, caplog):
    ATTACKS["link to the solution"](hub)
    ATTACKS["name without a time"](hub)
    (_inbound(hub) / "linked").symlink_to(hub)
    nested = _inbound(hub).joinpath(*"abcdefghijkl")
    nested.mkdir(parents=True)
    collected(hub, CollectSafely)
    said = caplog.text
    assert f"Left out: {NOTEBOOK}: it is a link" in said and "Left out: linked: it is a link" in said
    assert "soon+x1: its name is not STUDENT+ASSIGNMENT+TIME" in said
    assert "more than 8 levels deep" in said


# --- files that nbgrader reads again, of all students in one loop ---


SECRET, TIME = "submission_secret.txt", "timestamp.txt"
STUDENTS = ("jane", "mallory", "zoe")
FOLDER = "a folder"
DAMAGE = {
    "no secret": (SECRET, None),
    "empty secret": (SECRET, b"\n"),
    "secret of bytes": (SECRET, b"\xff\xfe\xff"),
    "secret as folder": (SECRET, FOLDER),
    "no time": (TIME, None),
    "time of words": (TIME, b"soon"),
    "time of bytes": (TIME, b"\xff\xfe\xff"),
    "time as folder": (TIME, FOLDER),
    "another time": (TIME, b"2020-01-01 10:00:00 UTC"),
}


def pages_after(hub, by) -> set[str]:
    """The students who find their page after feedback was given back."""
    for student in STUDENTS:
        write_feedback(hub / "course", Result("ps3", student, "03_attention"))
    course = CourseDirectory(root=str(hub / "course"), course_id="bert", assignment_id="ps3")
    by(coursedir=course, root=str(hub / "exchange")).start()
    found = {path.stem for path in hub.glob("exchange/bert/feedback/*.html")}
    page = {name: notebook_hash(secret=f"secret of {name}", notebook_id="03_attention") for name in STUDENTS}
    return {student for student in STUDENTS if page[student] in found}


@pytest.mark.parametrize(("file", "content"), DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_time_or_secret_stops_nobody_else(file, content, hub):
    hand_in(hub, "zoe", "what zoe wrote")
    place = _inbound(hub) / file
    place.unlink()
    if content == FOLDER:
        place.mkdir()
    elif content is not None:
        place.write_bytes(content)
    collected(hub, CollectSafely)
    assert (hub / "course/submitted/mallory/ps3/timestamp.txt").read_text() == "2026-03-01 10:00:00.000000 UTC"
    assert pages_after(hub, ReleaseSafely) == {"jane", "zoe"} | ({"mallory"} if file == TIME else set())
    for student in STUDENTS:
        hand_in(hub, student, f"a second try of {student}", day=2)
    assert set(collected(hub, CollectSafely).values()) == {f"a second try of {student}" for student in STUDENTS}


@pytest.mark.parametrize("missing", [TIME, SECRET])
def test_a_folder_without_them_stops_nbgraders_giving_back_and_not_ours(missing, hub, caplog):
    """As in a course that collected before these files were put right, or that got one hand-in by mail."""
    hand_in(hub, "zoe", "what zoe wrote")
    collected(hub, CollectSafely)
    (hub / "course/submitted/mallory/ps3" / missing).unlink()
    with pytest.raises(FileNotFoundError):
        pages_after(hub, ExchangeReleaseFeedback)
    assert pages_after(hub, ReleaseSafely) == {"jane", "zoe"}
    assert "Not released" in caplog.text and missing in caplog.text


def test_a_folder_named_as_a_page_stops_nobody_else(hub):
    """nbgrader's generate_feedback copies what a student handed in beside the notebook to the pages."""
    hand_in(hub, "zoe", "what zoe wrote")
    collected(hub, CollectSafely)
    (hub / "course/feedback/mallory/ps3/a.html").mkdir(parents=True)
    assert {"jane", "zoe"} <= pages_after(hub, ReleaseSafely)
