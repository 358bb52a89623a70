"""An instructor's own folder with a new exercise, which is all that is in the catalogue while a test runs."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

from click.testing import CliRunner

from autograde import exercises as package
from autograde.cli import cli
from autograde.exercises import catalogue, folders

NOTEBOOK, NAME = "09_pooling", "mean-pooling"


def own_folder(tmp_path: Path, monkeypatch) -> Iterator[Path]:
    """A folder with a new exercise, as the command writes it; afterwards everything is as it was before."""
    monkeypatch.setenv(folders.VARIABLE, "")
    monkeypatch.setattr(package, "__path__", list(package.__path__))
    monkeypatch.setattr(catalogue, "EXERCISES", catalogue.EXERCISES)
    before, folder = _imported(), tmp_path / "my_folder"
    told = CliRunner().invoke(cli, ["new-exercise", NOTEBOOK, NAME, "--exercises", str(folder)], catch_exceptions=False)
    assert f"autograde try {NAME} --exercises {folder}" in told.stdout
    importlib.invalidate_caches()  # its folders are new
    catalogue.EXERCISES = tuple(catalogue.read_notebook(NOTEBOOK))
    yield folder
    for name in _imported():
        del sys.modules[name]
    sys.modules.update(before)


def run(*words) -> str:
    """The output of an `autograde` command, which must succeed."""
    done = CliRunner().invoke(cli, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def _imported() -> dict:
    return {name: module for name, module in sys.modules.items() if name.startswith(f"{package.__name__}.n0")}
