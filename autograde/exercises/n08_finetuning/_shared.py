"""Inputs and helpers shared by the exercises of notebook 08."""

import numpy as np

from autograde.exercises.writing import Case, Forbidden, Random, Tolerance, normal

READY_MADE = Forbidden(
    "In this exercise you write it yourself. In other exercises you may use the ready-made one.",
    ("scipy", "sklearn"),
)


def head_case(rng: Random, hidden: np.ndarray, outputs: int, config: dict, *more) -> Case:
    """A call of a layer whose one Dense, `dense`, turns each vector into `outputs` numbers."""
    width = hidden.shape[-1]
    weights = {"dense/kernel": normal(rng, width, outputs), "dense/bias": normal(rng, outputs)}
    return Case((hidden, *more), {}, weights, config)


IGNORED = -100
EXACTLY = Tolerance(1e-6, 1e-9)  # of Python's own floats
