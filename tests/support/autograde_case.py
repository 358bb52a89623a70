"""Helpers of the autograder's tests: plans of all exercises, made once, and ways to ask code a question."""

import functools
import linecache
import shutil
from pathlib import Path

from once import made_once

from autograde.boundary import call_answer, fingerprints
from autograde.exercises import catalogue, cells
from autograde.exercises.planning import planner
from autograde.exercises.proofs import Proofs
from autograde.judging.judge import judge
from autograde.student import plans

LAYER = """
class MultiHeadAttention(keras.layers.Layer):
    def __init__(self, num_heads):
        {init}
        self.num_heads = num_heads
    def build(self, shape):
        {build}
    def call(self, x, attention_mask=None):
        {call}
"""


def fingerprint(exercise_id: str) -> Path:
    """The file of an exercise's visible plan, as a release writes it: made once in a run of the tests."""
    exercise = catalogue.find(exercise_id)
    return made_once(f"{exercise.id}.npz", lambda path: _save_plan(exercise, path))


def _save_plan(exercise, path: Path) -> None:
    """Writes the visible plan, and beside it the misconceptions' answers with the notes that a plan leaves out."""
    own = Proofs(exercise)
    fingerprints.save(own.mistaken_answers, _answers_beside(path))
    fingerprints.save(own.plan, path)


def _answers_beside(plan: Path) -> Path:
    return plan.with_suffix(".answers")


def copy_fingerprints(folder: Path) -> Path:
    """All that a release puts into its folder of fingerprints; returns the folder."""
    for exercise in catalogue.EXERCISES:
        shutil.copy(fingerprint(exercise.id), folder)
    fingerprints.save_index(planner.index(), folder)
    fingerprints.save_index(planner.runs_of(catalogue.EXERCISES), folder, fingerprints.RUNS)
    return folder


@functools.cache
def proofs_of(exercise_id: str) -> Proofs:
    """The proofs of an exercise, on its visible plan, which is made once in a run of the tests."""
    path = fingerprint(exercise_id)
    return Proofs(catalogue.find(exercise_id), fingerprints.load(path), fingerprints.load(_answers_beside(path)))


def visible_plan(exercise_id: str) -> dict:
    """The plan of an exercise's visible inputs, with its misconceptions' outcomes."""
    return proofs_of(exercise_id).plan


def asking(namespace):
    """The `ask` of a namespace in this process."""
    return lambda questions: call_answer.answer(questions, namespace)


def written(source: str, name: str = "<cell>") -> dict:
    """The namespace after a cell of a student's, who has imported what the notebook imports."""
    import keras
    import numpy as np

    namespace = {"__name__": "__main__", "keras": keras, "ops": keras.ops, "np": np}
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    exec(compile(source, name, "exec"), namespace)
    return namespace


def verdict_on_changed(exercise_id: str, *changes: tuple[str, str]):
    """The verdict on the solution's cell with some texts, which are in it once, replaced by others."""
    exercise = catalogue.find(exercise_id)
    source = cells.answer_cell(exercise)
    for old, new in changes:
        assert source.count(old) == 1
        source = source.replace(old, new)
    return judge(visible_plan(exercise_id), asking(cells.namespace(exercise, source)), source)


def verdict_on(exercise_id: str, source: str, **options):
    """The verdict on a student's cell, on the visible inputs."""
    return judge(visible_plan(exercise_id), asking(written(source)), source, **options)


def student_machine_with(fingerprints: Path, folder: Path, monkeypatch):
    """For a fixture: a working folder on a machine that has these fingerprints and nothing else of the course."""
    monkeypatch.setenv("AUTOGRADE_FINGERPRINTS", str(fingerprints))
    monkeypatch.chdir(folder)
    for asked in (plans.index, plans.plan):
        asked.cache_clear()
    yield folder
    for asked in (plans.index, plans.plan):
        asked.cache_clear()
