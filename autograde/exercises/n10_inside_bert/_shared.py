"""Inputs and helpers shared by the exercises of notebook 10."""

import numpy as np

from autograde.exercises.writing import Forbidden, Random, Tolerance

LIBRARY = Forbidden("In this exercise you write it yourself; afterwards you may use the library's version.")
NUMBERS = Tolerance(1e-6, 1e-9)  # of Python's own floats and of NumPy's float64

__all__ = ["LIBRARY", "NUMBERS", "attention_rows"]


def attention_rows(rng: Random, *shape: int, sharp: float = 1.5) -> np.ndarray:
    """Attention weights (…, T, T), float64: positive rows that sum to 1. sharp: how unequal their numbers are."""
    weights = np.exp(sharp * rng.normal(size=shape))
    return weights / weights.sum(axis=-1, keepdims=True)
