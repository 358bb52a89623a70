"""CONTRIBUTING.md followed to the letter: its exercise is one, as the tests of the exercises ask for it."""

import re
import sys
import types
from pathlib import Path

import pytest
from autograde_case import asking

from autograde import planning
from autograde.exercises import cells
from autograde.judge import judge
from autograde.release import editions

TEXT = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
SOLUTION, MODULE, ALTERNATIVE = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


@pytest.fixture
def exercise(tmp_path, monkeypatch):
    """Steps 1 to 3, in a course of its own."""
    (tmp_path / "09_pooling.py").write_text(SOLUTION, encoding="utf-8")
    monkeypatch.setattr(cells, "SOLUTIONS", tmp_path)
    module = types.ModuleType("contributed")
    monkeypatch.setitem(sys.modules, "contributed", module)
    exec(compile(MODULE, "contributed", "exec"), vars(module))
    (exercise,) = module.EXERCISES
    return exercise


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
        assert "NN" in path or (root / path).exists(), path
    targets = (root / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"make ([a-z-]+)", TEXT):
        assert f"\n{target}:" in targets, target
