"""What a machine lacks for the course, reckoned; that it is then installed, test_colab.py tries for real."""

import sys
from importlib import metadata

import pytest

from autograde import fresh_machine


def test_what_is_missing_is_what_is_not_installed_and_no_extra_asks_for():
    requirements = ["click>=8.1", "no-such-library-1>=2", "tensorflow<3,>=2.20", 'no-such-library-2; extra == "hub"']
    assert fresh_machine.missing(requirements) == ["no-such-library-1>=2"]


@pytest.mark.parametrize(
    ("tensorflow", "text", "wanted"),
    [
        ("2.21.0", None, "tensorflow-text==2.21.*"),
        ("2.21.0", "2.20.1", "tensorflow-text==2.21.*"),
        ("2.21.0", "2.21.1", None),
        (None, None, None),
    ],
)
def test_tensorflow_text_is_that_of_tensorflows_own_release(tensorflow, text, wanted):
    assert fresh_machine.fitting_text(tensorflow, text) == wanted


def test_where_everything_is_there_nothing_is_installed_and_nothing_said(monkeypatch, capsys):
    if fresh_machine.fitting_text(metadata.version("tensorflow"), _text()):
        pytest.skip("TensorFlow Text is not installed here")
    monkeypatch.setattr(sys, "executable", "/no/such/python")  # would be needed for an installation
    fresh_machine.complete()
    assert capsys.readouterr().out == ""


def _text():
    try:
        return metadata.version("tensorflow-text")
    except metadata.PackageNotFoundError:
        return None


def test_what_cannot_be_installed_is_said_with_pips_reason_and_no_error(monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    monkeypatch.setattr(metadata, "requires", lambda name: ["no-such-library-1>=2"])
    said = []
    fresh_machine.complete(said.append)
    assert said and said[0].startswith("no-such-library-1>=2 could not be installed; show this to your instructor:")
    assert "No matching distribution" in said[0]
