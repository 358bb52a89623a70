"""Grading tells whether a notebook was released with another version, or its exercises have changed since then."""

import json
import re
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from grader_course import make_gradebook, release
from own_folder import NAME as OWN
from own_folder import NOTEBOOK as OWN_NOTEBOOK
from own_folder import own_folder

from autograde.cli import cli
from autograde.grader.book.course import make_course
from autograde.release import sources
from autograde.release.sources import warnings, write_record

NAME, NOTEBOOK = "ps3", "03_attention"


@pytest.fixture
def own(tmp_path, monkeypatch):
    yield from own_folder(tmp_path, monkeypatch)


@pytest.fixture
def course(tmp_path):
    write_record(tmp_path, NAME, [NOTEBOOK])
    return tmp_path


def test_nothing_is_said_while_nothing_has_changed_on_this_machine_or_another(course, monkeypatch):
    assert warnings(course, NAME, [NOTEBOOK]) == []
    monkeypatch.setattr(sources.metadata, "version", lambda name: "0")
    assert warnings(course, NAME, [NOTEBOOK]) == []
    assert (course / ".autograde").stat().st_mode & 0o077 == 0


def test_an_exercise_that_was_changed_is_named_until_it_is_released_again(own, tmp_path):
    write_record(tmp_path, NAME, [OWN_NOTEBOOK])
    module = own / "exercises" / f"n{OWN_NOTEBOOK}" / "mean_pooling.py"
    module.write_bytes(b"# a comment\r\n\r\n" + module.read_bytes().replace(b"\n", b"\r\n"))
    assert warnings(tmp_path, NAME, [OWN_NOTEBOOK]) == []
    module.write_text(module.read_text() + "\nMORE = 1\n")
    (line,) = warnings(tmp_path, NAME, [OWN_NOTEBOOK])
    assert f"ps3: {OWN_NOTEBOOK} was changed after it was released: {OWN}. An answer that passed" in line
    command = f"autograde release {OWN_NOTEBOOK} --course {tmp_path} --assignment ps3 --wheel dist"
    assert f"run `{command}` and hand out the wheel." in line
    write_record(tmp_path, NAME, [OWN_NOTEBOOK])
    assert warnings(tmp_path, NAME, [OWN_NOTEBOOK]) == []


def test_a_helper_and_the_answer_count_and_files_that_are_not_code_do_not(own, tmp_path):
    folder = own / "exercises" / f"n{OWN_NOTEBOOK}"
    module, helper = folder / "mean_pooling.py", folder / "_shared.py"
    helper.write_text("X = 1\n")
    module.write_text(f"{module.read_text()}\nfrom ._shared import X\n")
    write_record(tmp_path, NAME, [OWN_NOTEBOOK])
    (folder / ".mean_pooling.py.swp").write_bytes(b"\0")
    (folder / "NOTES.md").write_text("notes")
    solution = own / "solutions" / f"{OWN_NOTEBOOK}.py"
    solution.write_text(re.sub("~[0-9]+ minutes", "~99 minutes", solution.read_text()))
    assert warnings(tmp_path, NAME, [OWN_NOTEBOOK]) == []
    helper.write_text("X = 2\n")
    assert len(warnings(tmp_path, NAME, [OWN_NOTEBOOK])) == 1
    helper.write_text("X = 1\n")
    assert warnings(tmp_path, NAME, [OWN_NOTEBOOK]) == []
    solution.write_text(solution.read_text().replace("return 2 * x", "return x + x"))
    assert len(warnings(tmp_path, NAME, [OWN_NOTEBOOK])) == 1


def test_each_notebook_has_its_own_version(course, monkeypatch):
    monkeypatch.setattr(sources, "__version__", "9.1")
    write_record(course, NAME, ["04_encoder_layer"])
    (line,) = warnings(course, NAME, [NOTEBOOK, "04_encoder_layer", "05_bert"])  # the last one was never recorded
    assert f"{NOTEBOOK} was released with BertLab 0.1.0, and this is 9.1: its checks can ask other questions" in line
    assert line.endswith("; or grade with BertLab 0.1.0.")


@pytest.mark.parametrize("text", ["{", "[]", '{"03_attention": 3}', '{"03_attention": {}}', "\x00", "[" * 100_000])
def test_a_damaged_record_is_named_and_replaced_by_the_next_release(course, text):
    (course / ".autograde/released" / f"{NAME}.json").write_text(text)
    (line,) = warnings(course, NAME, [NOTEBOOK])
    advice = "run `autograde release 03_attention --course"
    assert f"expected the record of a release, found a damaged file; {advice}" in line
    write_record(course, NAME, [NOTEBOOK])
    assert warnings(course, NAME, [NOTEBOOK]) == []


def test_the_commands_warn_before_they_grade_and_keep_json_whole(tmp_path, monkeypatch):
    make_course(tmp_path)
    release(tmp_path)
    make_gradebook(tmp_path)
    assert "Warning" not in CliRunner().invoke(cli, ["grade", NAME, "--course", str(tmp_path)]).output  # no record
    write_record(tmp_path, NAME, [NOTEBOOK])
    monkeypatch.setattr(sources, "__version__", "9.1")
    said = "Warning: ps3: 03_attention was released with BertLab 0.1.0, and this is 9.1"
    for command in (("grade", NAME, "--json"), ("regrade", "scores", NAME, "--trust-submissions", "--json")):
        result = CliRunner().invoke(cli, [*command, "--course", str(tmp_path)])
        assert result.stderr.count(said) == 1, result.output
        json.loads(result.stdout)


def test_nbgraders_own_command_warns_once_for_all_submissions(course, monkeypatch):
    from autograde.nbgrader_plugin import GradeInSandbox

    monkeypatch.setattr(sources, "__version__", "9.1")
    logged = []
    monkeypatch.setattr(GradeInSandbox, "log", SimpleNamespace(warning=logged.append), raising=False)
    for _ in range(3):
        GradeInSandbox()._warn_once(SimpleNamespace(course=course, name=NAME, templates={NOTEBOOK: None}))
    assert len(logged) == 1 and "and this is 9.1" in logged[0]


@pytest.mark.parametrize("name", ["a/b", "a+b", "../x", ".hidden"])
def test_a_name_that_nbgrader_cannot_grade_is_refused_before_anything_is_made(name, tmp_path):
    made = str(tmp_path / "made")
    arguments = ["release", "00_welcome", "--course", str(tmp_path), "--assignment", name, "--to", made]
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == 2 and "expected a name without /, + and a dot" in result.stderr
    assert list(tmp_path.iterdir()) == []
