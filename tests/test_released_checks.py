"""Grading tells whether an assignment's checks have changed since its release."""

import functools
import json

import pytest
from click.testing import CliRunner
from grader_course import make_gradebook, released

from autograde.cli import cli
from autograde.exercises import catalogue
from autograde.grader.course import make_course
from autograde.release import released_checks, sources
from autograde.release.released_checks import warning, write_record

NAME, NOTEBOOKS = "ps3", ("03_attention",)
EXERCISES = [exercise.id for exercise in catalogue.of_notebook("03_attention")]


@pytest.fixture
def course(tmp_path):
    write_record(tmp_path, NAME, NOTEBOOKS)
    return tmp_path


def record_of(course):
    return course / ".autograde/released" / f"{NAME}.json"


def _digest_of_another(name, digest, path, at):
    return b"new" if path.name == name else digest(path, at)


def test_nothing_is_said_while_nothing_has_changed_on_this_machine_or_another(course, monkeypatch):
    assert warning(course, NAME, NOTEBOOKS) == ""
    monkeypatch.setattr(sources.metadata, "version", lambda name: "0")
    assert warning(course, NAME, NOTEBOOKS) == ""


def test_changed_exercises_are_named_and_a_new_release_ends_the_warning(course, monkeypatch):
    changed = functools.partial(_digest_of_another, "softmax_rows.py", sources._digest)
    monkeypatch.setattr(sources, "_digest", changed)
    said = warning(course, NAME, NOTEBOOKS)
    assert said.startswith("ps3: softmax-rows has changed since the release. An answer that passed a student's `check`")
    assert "grade with the version that released it" in said
    write_record(course, NAME, NOTEBOOKS)
    assert warning(course, NAME, NOTEBOOKS) == ""


def test_many_changed_exercises_are_counted_and_both_versions_named(course, monkeypatch):
    monkeypatch.setattr(sources, "_digest", functools.partial(_digest_of_another, "probe.py", sources._digest))
    monkeypatch.setattr(released_checks, "__version__", "9.1")
    said = warning(course, NAME, NOTEBOOKS)
    assert f"ps3: {len(EXERCISES)} of {len(EXERCISES)} exercises have changed since the release" in said
    assert "(BertLab 0.1.0 then, 9.1 now)" in said and said.endswith("or grade with BertLab 0.1.0.")


def test_a_notebook_that_is_released_into_the_same_assignment_later_keeps_the_others_record(course):
    write_record(course, NAME, ("04_encoder",))
    assert warning(course, NAME, (*NOTEBOOKS, "04_encoder")) == ""


@pytest.mark.parametrize("text", ["", "{", "[]", '{"exercises": 3}', "\x00"])
def test_a_damaged_record_is_named_and_replaced_by_the_next_release(course, text):
    record_of(course).write_text(text)
    assert "expected the record of a release, found a damaged file" in warning(course, NAME, NOTEBOOKS)
    write_record(course, NAME, NOTEBOOKS)
    assert warning(course, NAME, NOTEBOOKS) == ""


def test_the_commands_warn_before_they_grade_and_keep_json_whole(tmp_path):
    make_course(tmp_path)
    (tmp_path / "release" / NAME).mkdir()
    (tmp_path / "release" / NAME / "03_attention.ipynb").write_bytes(released())
    make_gradebook(tmp_path)
    said = "Warning: ps3: an older version of BertLab released it"
    for command in (("grade", NAME, "--json"), ("regrade", "scores", NAME, "--trust-submissions", "--json")):
        result = CliRunner().invoke(cli, [*command, "--course", str(tmp_path)])
        assert result.stderr.count(said) == 1, result.output
        json.loads(result.stdout)
    write_record(tmp_path, NAME, NOTEBOOKS)
    assert "Warning" not in CliRunner().invoke(cli, ["grade", NAME, "--course", str(tmp_path)]).output
