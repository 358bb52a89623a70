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


def link_to_the_solution(hub):
    _link(_mine(hub) / NOTEBOOK, hub / "course/source/ps3" / NOTEBOOK)


def link_to_another_student(hub):
    _link(_mine(hub) / NOTEBOOK, hub / "exchange/bert/inbound/jane+ps3+2026-03-01 10:00:00 UTC+x1" / NOTEBOOK)


def folder_that_is_a_link(hub):
    place = hub / "exchange/bert/inbound/mallory+ps3+2026-03-02 10:00:00 UTC+x2"
    place.symlink_to(hub / "course/source/ps3")


def link_that_leads_nowhere(hub):
    (_mine(hub) / "notes").symlink_to("/nowhere")


def pipe(hub):
    os.mkfifo(_mine(hub) / "notes")


def name_without_a_time(hub):
    (hub / "exchange/bert/inbound/mallory+ps3+soon+x1").mkdir()


def name_of_nobody(hub):
    hand_in(hub, "", MINE)


def too_many_bytes(hub):
    with (_mine(hub) / "notes").open("wb") as file:
        file.truncate(1 << 40)  # a hole: it costs its student nothing


def _mine(hub) -> Path:
    return hub / "exchange/bert/inbound/mallory+ps3+2026-03-01 10:00:00 UTC+x1"


def _link(place, target):
    place.unlink()
    place.symlink_to(target)


ATTACKS = {
    link_to_the_solution: HONEST.keys() - {f"mallory/ps3/{NOTEBOOK}"},
    link_to_another_student: HONEST.keys() - {f"mallory/ps3/{NOTEBOOK}"},
    folder_that_is_a_link: HONEST.keys(),
    link_that_leads_nowhere: HONEST.keys(),
    pipe: HONEST.keys(),
    name_without_a_time: HONEST.keys(),
    name_of_nobody: HONEST.keys(),
    too_many_bytes: HONEST.keys(),
}


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_it_works_on_nbgraders_own_collecting(attack, hub):
    attack(hub)
    try:
        got = collected(hub, ExchangeCollect, check_owner=False)
    except Exception:  # it ended the collecting for all: that was its aim
        return
    assert got != HONEST, "another student's work, the solution, or a file for no student was expected"


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_the_same_is_left_out_here_and_everything_else_is_collected(attack, hub):
    attack(hub)
    assert collected(hub, CollectSafely) == {name: HONEST[name] for name in ATTACKS[attack]}
    assert not (hub / "course/submitted/mallory/ps3/notes").exists()


@pytest.mark.parametrize("by", [ExchangeCollect, CollectSafely])
def test_honest_folders_are_collected_alike_and_newer_ones_replace(hub, by):
    (_mine(hub) / "mybert").mkdir()
    (_mine(hub) / "mybert" / NOTEBOOK).write_text("in a folder")
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
    place = _mine(hub) / NOTEBOOK
    place.unlink()
    os.link(hub / "exchange/bert/inbound/jane+ps3+2026-03-01 10:00:00 UTC+x1" / NOTEBOOK, place)
    os.chown(place, NOBODY, NOBODY)  # that is jane's file under both names
    assert collected(hub, CollectSafely, check_owner=False) == {}


def test_what_is_left_out_is_reported_with_its_reason(hub, caplog):
    link_to_the_solution(hub)
    name_without_a_time(hub)
    (_mine(hub) / "linked").symlink_to(hub)
    nested = _mine(hub).joinpath(*"abcdefghijkl")
    nested.mkdir(parents=True)
    collected(hub, CollectSafely)
    said = caplog.text
    assert f"Left out: {NOTEBOOK}: it is a link" in said and "Left out: linked: it is a link" in said
    assert "soon+x1: its name is not STUDENT+ASSIGNMENT+TIME" in said
    assert "more than 8 levels deep" in said


# --- files that nbgrader reads again, of all students in one loop ---


def no_secret(folder):
    (folder / "submission_secret.txt").unlink()


def empty_secret(folder):
    (folder / "submission_secret.txt").write_text("\n")


def secret_of_bytes(folder):
    (folder / "submission_secret.txt").write_bytes(b"\xff\xfe\xff")


def secret_as_folder(folder):
    no_secret(folder)
    (folder / "submission_secret.txt").mkdir()


def no_time(folder):
    (folder / "timestamp.txt").unlink()


def time_of_words(folder):
    (folder / "timestamp.txt").write_text("soon")


def time_of_bytes(folder):
    (folder / "timestamp.txt").write_bytes(b"\xff\xfe\xff")


def time_as_folder(folder):
    no_time(folder)
    (folder / "timestamp.txt").mkdir()


def another_time(folder):
    (folder / "timestamp.txt").write_text("2020-01-01 10:00:00 UTC")


SECRETS = (no_secret, empty_secret, secret_of_bytes, secret_as_folder)
DAMAGE = (*SECRETS, no_time, time_of_words, time_of_bytes, time_as_folder, another_time)


def pages_after(hub, by) -> set[str]:
    """The students who find their page after feedback was given back."""
    for student in ("jane", "mallory", "zoe"):
        write_feedback(hub / "course", Result("ps3", student, "03_attention"))
    course = CourseDirectory(root=str(hub / "course"), course_id="bert", assignment_id="ps3")
    by(coursedir=course, root=str(hub / "exchange")).start()
    found = {path.stem for path in hub.glob("exchange/bert/feedback/*.html")}
    name = {
        student: notebook_hash(secret=f"secret of {student}", notebook_id="03_attention")
        for student in ("jane", "mallory", "zoe")
    }
    return {student for student, page in name.items() if page in found}


@pytest.mark.parametrize("attack", DAMAGE, ids=lambda attack: attack.__name__)
def test_a_damaged_time_or_secret_stops_nobody_else(attack, hub):
    hand_in(hub, "zoe", "what zoe wrote")
    attack(_mine(hub))
    collected(hub, CollectSafely)
    assert (hub / "course/submitted/mallory/ps3/timestamp.txt").read_text() == "2026-03-01 10:00:00.000000 UTC"
    assert pages_after(hub, ReleaseSafely) == {"jane", "zoe"} | ({"mallory"} if attack not in SECRETS else set())
    for student in ("jane", "mallory", "zoe"):
        hand_in(hub, student, f"a second try of {student}", day=2)
    assert set(collected(hub, CollectSafely).values()) == {
        f"a second try of {student}" for student in ("jane", "mallory", "zoe")
    }


@pytest.mark.parametrize("missing", ["timestamp.txt", "submission_secret.txt"])
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
