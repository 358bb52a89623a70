"""CONTRIBUTING.md followed to the letter: its exercise is one, as the tests of the exercises ask for it."""

import json
import re
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograde import exercises
from autograde.cli import cli
from autograde.exercises import catalogue, notebooks, proofs, scaffold
from autograde.release import editions

TEXT = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
CELLS, MODULE, ALTERNATIVES = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
NOTEBOOK, NAME = re.search(r"autograde new-exercise (\S+) (\S+)", TEXT).groups()


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course of its own, with a new exercise as `autograde new-exercise` writes it."""
    files = scaffold.new_exercise(NOTEBOOK, NAME, tmp_path)
    monkeypatch.setattr(notebooks, "SOLUTIONS", tmp_path / "solutions")
    monkeypatch.setattr(proofs, "ALTERNATIVES", tmp_path / "tests/alternatives")
    monkeypatch.setattr(exercises, "__path__", [str(tmp_path / "autograde/exercises")])
    yield files
    for name in [name for name in sys.modules if f"n{NOTEBOOK}" in name]:
        del sys.modules[name]


@pytest.fixture
def exercise(course):
    """The three files filled in as the guide says."""
    solution, module, alternatives = course
    beginning, _, _ = solution.read_text(encoding="utf-8").partition("# %% [markdown]\n# ## ")
    solution.write_text(beginning + CELLS, encoding="utf-8")
    module.write_text(MODULE, encoding="utf-8")
    alternatives.write_text(ALTERNATIVES, encoding="utf-8")
    (exercise,) = catalogue.read_notebook(NOTEBOOK)
    return exercise


def test_the_exercise_of_the_guide_can_be_proved(exercise):
    assert [finding for finding in proofs.Proofs(exercise).run(draws=3) if finding.problems] == []
    assert (exercise.id, exercise.points, exercise.names) == (NAME, 2, ("mean_pooling",))


def test_a_new_exercise_runs_before_it_is_filled_in(course):
    (new,) = catalogue.read_notebook(NOTEBOOK)
    failed = {finding.proof for finding in proofs.Proofs(new).run() if finding.problems}
    assert failed == {"has all parts", "other right answers pass"}  # too few misconceptions and alternatives
    with pytest.raises(notebooks.SolutionError, match="exists already"):
        scaffold.new_exercise(NOTEBOOK, NAME, course[0].parents[1])
    scaffold.new_exercise(NOTEBOOK, "second-one", course[0].parents[1])
    assert [exercise.number for exercise in catalogue.read_notebook(NOTEBOOK)] == ["9.1", "9.2"]


def test_an_exercise_takes_three_files_and_about_ninety_lines(course):
    assert len(course) == 3
    assert sum(text.count("\n") for text in (CELLS, MODULE, ALTERNATIVES)) <= 120


def test_its_student_edition_holds_no_answer(exercise):
    made = editions.make(NOTEBOOK, folder=notebooks.SOLUTIONS)
    assert "einsum" in made.source and "einsum" not in made.student and "YOUR CODE HERE" in made.student


def test_every_file_and_command_it_names_is_there():
    root = Path(__file__).parents[2]
    for name in re.findall(r"`((?:docs|tests|autograde|solutions)/[\w/.]+\.\w+)`|\]\((docs/[\w.]+)\)", TEXT):
        path = next(filter(None, name))
        assert "NN" in path or "09_pooling" in path or (root / path).exists(), path
    targets = (root / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"make ([a-z-]+)", TEXT):
        assert f"\n{target}:" in targets, target


def test_the_commands_write_an_exercise_and_say_what_it_lacks(course, monkeypatch):
    root = course[0].parents[1]
    monkeypatch.setattr(scaffold.new_exercise, "__defaults__", (root,))
    written = CliRunner().invoke(cli, ["new-exercise", NOTEBOOK, "third-one"])
    assert written.exit_code == 0 and "autograde try third-one" in written.stdout
    assert (root / f"autograde/exercises/n{NOTEBOOK}/third_one.py").is_file()
    (new, _) = catalogue.read_notebook(NOTEBOOK)
    monkeypatch.setattr(catalogue, "EXERCISES", (*catalogue.EXERCISES, new))
    failed = CliRunner().invoke(cli, ["try", NAME])
    assert failed.exit_code == 1 and "expected at least 3 misconceptions" in failed.stdout
    assert f"✓ {list(proofs.PROOFS)[1]}" in failed.stdout and "7 of 9 proofs hold" in failed.stdout


def test_an_exercise_of_the_course_is_proved_in_json():
    proved = CliRunner().invoke(cli, ["try", "add-to-rows", "--json"])
    assert proved.exit_code == 0 and [row["proof"] for row in json.loads(proved.stdout)] == list(proofs.PROOFS)
