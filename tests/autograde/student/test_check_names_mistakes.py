"""Each known mistake, run from its own cell through `check`, gets its own sentence, also where numbers are drawn."""

import shutil

import pytest
from autograde_case import fingerprint, student_machine_with

from autograde.boundary import fingerprints
from autograde.exercises import catalogue, cells
from autograde.exercises.planning import planner
from autograde.student.checking import check

# A few of which the numbers do not depend on chance, and some layers that draw initial weights or drop numbers.
QUICK = ("scores", "residual", "layer-norm-layer")
DRAWING = ("bert-embeddings", "encoder-layer", "bert")


@pytest.fixture(autouse=True)
def student_machine(tmp_path, monkeypatch):
    yield from student_machine_with(tmp_path, tmp_path, monkeypatch)


def _each(exercise):
    rare = pytest.mark.slow if exercise.id in DRAWING else pytest.mark.exhaustive
    return pytest.param(exercise, id=exercise.id, marks=[] if exercise.id in QUICK else rare)


@pytest.mark.parametrize("exercise", map(_each, catalogue.EXERCISES))
def test_each_known_mistake_is_named_by_check_whenever_it_runs(exercise, student_machine):
    shutil.copy(fingerprint(exercise.id), student_machine)
    planner.write_indexes([exercise], student_machine)
    for misconception in exercise.misconceptions:
        for _ in range(2):  # other numbers are drawn
            space = cells.namespace(exercise, cells.patched_cell(exercise, misconception)) | {"check": check}
            exec(f"shown = check({exercise.names[0]})", space)
            verdict = space["shown"].verdict
            assert verdict.misconception == misconception.id, f"{misconception.id}:\n{space['shown']!r}"


def _raised(exercise):
    """The mistakes whose code raises an error of Python's own in a call outside of `tf.function`."""
    plan = fingerprints.load(fingerprint(exercise.id))
    for known in plan["misconceptions"]:
        errors = [
            outcome["error"]["type"]
            for question, outcome in zip(plan["questions"], known["outcomes"])
            if outcome["status"] == "raised" and not question.get("graph")
        ]
        if {"TypeError", "AttributeError", "NameError"} & set(errors):
            yield known["id"]


@pytest.mark.parametrize(
    "exercise",
    [
        pytest.param(one, id=one.id, marks=[pytest.mark.exhaustive] if one.slow_draws else [])
        for one in catalogue.EXERCISES
        if one.id in QUICK + ("tagging-loss", "etransformer") or one.slow_draws
    ],
)
def test_no_known_mistake_fails_for_an_error_that_is_not_the_mistake(exercise):
    assert not list(_raised(exercise))
