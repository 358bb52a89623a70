"""docs/exercises.md followed to the letter: its exercise is one, as the tests of the exercises ask for it."""

import json
import re
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograde import exercises
from autograde.cli import cli
from autograde.exercises import catalogue, gaps, notebooks, proofs, scaffold
from autograde.release import editions

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs/exercises.md").read_text(encoding="utf-8")
CELLS, SKETCH, MODULE, ANSWERS, *_ = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
NOTEBOOK, NAME = re.search(r"autograde new-exercise (\S+) (\S+)", TEXT).groups()


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course of its own, with a new exercise as `autograde new-exercise` writes it."""
    files = scaffold.new_exercise(NOTEBOOK, NAME, tmp_path)
    monkeypatch.setattr(notebooks, "SOLUTIONS", tmp_path / "solutions")
    monkeypatch.setattr(exercises, "__path__", [str(tmp_path / "autograde/exercises")])
    yield files
    for name in [name for name in sys.modules if f"n{NOTEBOOK}" in name]:
        del sys.modules[name]


@pytest.fixture
def exercise(course):
    """The three files filled in as the guide says."""
    return filled_in(course, MODULE, ANSWERS)


def filled_in(course, module_text, answers_text):
    solution, module, answers = course
    beginning, _, _ = solution.read_text(encoding="utf-8").partition("# %% [markdown]\n# ## ")
    solution.write_text(beginning + CELLS, encoding="utf-8")
    module.write_text(module_text, encoding="utf-8")
    answers.write_text(answers_text, encoding="utf-8")
    (exercise,) = catalogue.read_notebook(NOTEBOOK)
    return exercise


def problems_of(exercise, draws=0):
    return [finding for finding in proofs.Proofs(exercise).run(draws) if finding.problems]


def test_the_exercise_of_the_guide_can_be_proved(exercise):
    assert problems_of(exercise, draws=3) == []
    assert (exercise.id, exercise.points, exercise.names) == (NAME, 2, ("mean_pooling",))
    (untested,) = gaps.of_exercise(exercise)
    assert untested.startswith("6 sentences have no part that tests them")


def test_the_sketch_of_the_guide_can_be_proved_and_its_gaps_are_listed(course):
    sketch = filled_in(course, SKETCH, "")
    assert SKETCH.rstrip().count("\n") + 1 <= 15 and problems_of(sketch) == []
    lacking = "\n".join(gaps.of_exercise(sketch))
    for word in ("no edge", "no gradient", "no misconception", "no hint", "no other right", "no wrong", "no part"):
        assert word in lacking, word


def test_a_new_exercise_is_written_once_and_runs_before_it_is_filled_in(course, monkeypatch):
    root = course[0].parents[1]
    (new,) = catalogue.read_notebook(NOTEBOOK)
    assert problems_of(new) == []
    with pytest.raises(notebooks.SolutionError, match="exists already"):
        scaffold.new_exercise(NOTEBOOK, NAME, root)
    monkeypatch.setattr(scaffold.new_exercise, "__defaults__", (root,))
    written = CliRunner().invoke(cli, ["new-exercise", NOTEBOOK, "second-one"])
    assert written.exit_code == 0 and "autograde try second-one" in written.stdout
    assert (root / f"autograde/exercises/n{NOTEBOOK}/second_one.py").is_file()
    assert [exercise.number for exercise in catalogue.read_notebook(NOTEBOOK)] == ["9.1", "9.2"]


def test_an_exercise_takes_three_files_and_at_most_150_lines(course):
    assert len(course) == 3
    assert sum(text.count("\n") for text in (CELLS, MODULE, ANSWERS)) <= 150


def test_its_student_edition_holds_no_answer(exercise):
    made = editions.make(NOTEBOOK, folder=notebooks.SOLUTIONS)
    assert "einsum" in made.source and "einsum" not in made.student and "YOUR CODE HERE" in made.student


def test_every_file_and_command_it_names_is_there():
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:docs|tests|autograde|solutions)/[\w/.]+\.\w+)`", TEXT + contributing)
    named += [f"autograde/exercises/{path}" for path in re.findall(r"`(n0\d\w+/\w+\.py)`", TEXT)]
    for path in (*named, *re.findall(r"\]\((docs/[\w.]+)\)", contributing)):
        assert "NN" in path or "09_pooling" in path or (ROOT / path).exists(), path
    makefile, readme = ((ROOT / name).read_text(encoding="utf-8") for name in ("Makefile", "README.md"))
    for target in re.findall(r"make ([a-z-]+)", contributing + readme):
        assert re.search(rf"^{target}:.*##", makefile, re.MULTILINE), f"make {target}"


def test_an_exercise_of_the_course_is_proved_in_json():
    proved = CliRunner().invoke(cli, ["try", "add-to-rows", "--json"])
    assert proved.exit_code == 0 and [row["proof"] for row in json.loads(proved.stdout)] == list(proofs.PROOFS)
