"""The library's own solution of an exercise, and what Keras and TensorFlow have ready, earn nothing under any name."""

import ast
import base64
import dataclasses
import pkgutil
import re
from pathlib import Path

import pytest
from autograde_case import asking
from grade_class import grade_alone, released_template, solved

import bertlab
from autograde import student as student_package
from autograde.exercises import catalogue, cells, ready_made
from autograde.exercises.planning import planner
from autograde.exercises.spec import Forbidden
from autograde.judging.judge import judge

STAND_INS = Path(student_package.__file__).parent / "stand_ins"
NOTEBOOKS = list(dict.fromkeys(exercise.notebook for exercise in catalogue.EXERCISES if exercise.kept_in))
_, *_parts = re.split(r"^# %% (.*)\n", (Path(__file__).parents[3] / "hostile/ready_made.py").read_text(), flags=re.M)
READY = dict(zip(_parts[::2], _parts[1::2]))
# Where a ready-made answer is allowed.
ALLOWED = {
    "tagging-loss": "in notebook 07 the loss was written; here `ops.sparse_categorical_crossentropy` is one step, and "
    "what the exercise asks for is the positions that count",
}


def test_every_module_of_the_library_is_forbidden_everywhere_or_solves_nothing():
    found = {f"bertlab.{module.name}" for module in pkgutil.iter_modules(bertlab.__path__)} | {"bertlab.pretrained"}
    assert found == set(ready_made.LIBRARY) | set(ready_made.TOOLS)
    for exercise in catalogue.EXERCISES:
        assert set(ready_made.EVERYWHERE) <= set(exercise.forbidden.names), exercise.id
        assert exercise.forbidden.because


def _graded(notebook, edits, launcher):
    return grade_alone(solved(edits, notebook=notebook), launcher, released_template(notebook))[1]


def _hidden(text: str) -> str:
    """A cell in which no search finds this text."""
    return f"import base64\nexec(base64.b64decode({base64.b64encode(text.encode())!r}).decode())\n"


def _own_lines(text: str) -> set[str]:
    """The functions and classes of a module that use nothing of the library, directly or through one another."""
    body = ast.parse(text).body
    uses = {
        node.name: {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        | ({"the library"} if _imported(node) else set())
        for node in body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef))
    }
    borrowed = {"the library"} | {name for node in body if isinstance(node, ast.ImportFrom) for name in _imported(node)}
    while True:
        more = {name for name, used in uses.items() if used & borrowed} - borrowed
        if not more:
            return set(uses) - borrowed
        borrowed |= more


def _imported(node) -> set[str]:
    """The names that a node imports from the library."""
    parts = [part for part in ast.walk(node) if isinstance(part, ast.ImportFrom)]
    found = [alias for part in parts if (part.module or "").startswith("bertlab") for alias in part.names]
    return {alias.asname or alias.name for alias in found}


@pytest.mark.parametrize(
    "notebook", [pytest.param(name, marks=pytest.mark.exhaustive if name[:2] != "04" else ()) for name in NOTEBOOKS]
)
def test_the_librarys_own_solutions_earn_nothing(launcher, notebook):
    """But for those that consist of lines that need nothing of the library: copied code, which no ban can see.

    At 87264fd what the library has for notebook 07's gather_positions earned its points.
    """
    exercises = catalogue.of_notebook(notebook)
    stand_in = _hidden((STAND_INS / f"{exercises[0].kept_in}.py").read_text())
    verdicts = _graded(notebook, {exercise.id: stand_in for exercise in exercises}, launcher)
    earned = {exercise.names[0] for exercise in exercises if verdicts[exercise.id].points}
    assert earned <= _own_lines((STAND_INS / f"{exercises[0].kept_in}.py").read_text())
    assert len(earned) < len(exercises)


@pytest.mark.parametrize("way", READY)
def test_a_ready_made_answer_would_earn_points_if_nothing_were_forbidden(way):
    """So the next test is about the ban."""
    exercise = catalogue.find(way.split()[0])
    namespace = cells.namespace(exercise, READY[way])
    allowed = dataclasses.replace(exercise, forbidden=Forbidden(), in_graph=False)  # an optimizer is made outside of it
    plan = planner.make_plan(allowed, "ready", misconceptions=False)
    assert judge(plan, asking(namespace), "").points > 0


@pytest.mark.exhaustive
@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_ready_made_answers_of_keras_and_tensorflow_earn_nothing(launcher, notebook):
    ways = [way for way in READY if catalogue.find(way.split()[0]).notebook == notebook]
    while ways:  # one answer to each exercise at a time
        chosen = {way.split()[0]: way for way in reversed(ways)}
        verdicts = _graded(notebook, {name: READY[way] for name, way in chosen.items()}, launcher)
        assert {name: verdicts[name].points for name in chosen} == dict.fromkeys(chosen, 0)
        ways = [way for way in ways if way not in chosen.values()]


def test_what_is_allowed_is_a_step_and_has_a_reason():
    for name, reason in ALLOWED.items():
        assert "keras.ops.sparse_categorical_crossentropy" not in catalogue.find(name).forbidden.names and reason
