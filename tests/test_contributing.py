"""CONTRIBUTING.md followed to the letter: its exercise is one, as the tests of the exercises ask for it."""

import re
import sys
from pathlib import Path

import pytest
from autograde_case import asking

from autograde import exercises, planning
from autograde.exercises import catalogue, cells, notebooks
from autograde.judge import judge
from autograde.release import editions

TEXT = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
SOLUTION, MODULE, ALTERNATIVE = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


@pytest.fixture
def exercise(tmp_path, monkeypatch):
    """Steps 1 and 2, in a course of its own."""
    (tmp_path / "09_pooling.py").write_text(SOLUTION, encoding="utf-8")
    package = tmp_path / "n09_pooling"
    package.mkdir()
    (package / "__init__.py").write_text('KEPT_IN = ""\n', encoding="utf-8")
    (package / "mean_pooling.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.setattr(notebooks, "SOLUTIONS", tmp_path)
    monkeypatch.setattr(exercises, "__path__", [str(tmp_path)])
    (exercise,) = catalogue.read_notebook("09_pooling")
    yield exercise
    for name in [name for name in sys.modules if "n09_pooling" in name]:
        del sys.modules[name]


def test_its_solution_earns_everything_and_the_stub_nothing(exercise):
    plan = planning.make_plan(exercise)
    answer = cells.answer_cell(exercise)
    assert judge(plan, asking(cells.namespace(exercise)), answer).points == exercise.points == 2
    stub = cells.stub_cell(answer)
    assert judge(plan, asking(cells.namespace(exercise, stub)), stub).status == "not attempted"


@pytest.mark.parametrize("seed", ["one", "two", "three"])
def test_its_mistakes_fail_and_are_named(exercise, seed):
    plan = planning.make_plan(exercise, seed)
    for known in exercise.misconceptions:
        verdict = judge(plan, asking(cells.namespace(exercise, cells.patched_cell(exercise, known))))
        assert not verdict.passed and verdict.misconception == known.id, str(verdict)


def test_its_other_solution_passes(exercise):
    plan = planning.make_plan(exercise, misconceptions=False)
    assert judge(plan, asking(cells.namespace(exercise, ALTERNATIVE)), ALTERNATIVE).passed


def test_its_student_edition_holds_no_answer(exercise, tmp_path):
    made = editions.make("09_pooling", folder=tmp_path)
    assert "einsum" in made.source and "einsum" not in made.student and "YOUR CODE HERE" in made.student


def test_every_file_and_command_it_names_is_there():
    root = Path(__file__).parents[1]
    for name in re.findall(r"`((?:docs|tests|autograde|solutions)/[\w/.]+\.\w+)`|\]\((docs/[\w.]+)\)", TEXT):
        path = next(filter(None, name))
        assert "NN" in path or "09_pooling" in path or (root / path).exists(), path
    targets = (root / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"make ([a-z-]+)", TEXT):
        assert f"\n{target}:" in targets, target
