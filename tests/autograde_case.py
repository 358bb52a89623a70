"""What the autograder's tests share: plans of all exercises, made once, and ways to ask code a question."""

import functools
import linecache

from autograde import probe
from autograde.exercises import catalogue
from autograde.judge import judge
from autograde.proofs import Proofs


@functools.cache
def proofs_of(exercise_id: str) -> Proofs:
    """The proofs of an exercise; its plan is made once for all tests of a process."""
    return Proofs(catalogue.find(exercise_id))


def visible_plan(exercise_id: str) -> dict:
    """The plan of an exercise's visible inputs, with its misconceptions' outcomes."""
    return proofs_of(exercise_id).plan


def asking(namespace):
    """The `ask` of a namespace in this process."""
    return lambda questions: probe.answer(questions, namespace)


def written(source: str, name: str = "<cell>") -> dict:
    """The namespace after a cell of a student's, who has imported what the notebook imports."""
    import keras
    import numpy as np

    namespace = {"__name__": "__main__", "keras": keras, "ops": keras.ops, "np": np}
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    exec(compile(source, name, "exec"), namespace)
    return namespace


def verdict_on(exercise_id: str, source: str, **options):
    """The verdict on a student's cell, on the visible inputs."""
    return judge(visible_plan(exercise_id), asking(written(source)), source, **options)
