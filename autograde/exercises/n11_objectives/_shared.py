"""Inputs and helpers shared by the exercises of notebook 11."""

import numpy as np

from autograde.exercises.n07_pretraining._shared import READY_MADE_LOSSES, log_softmax
from autograde.exercises.writing import Forbidden, Random, whole_numbers

LIBRARY = Forbidden("In this exercise you write it yourself; afterwards you may use the library's version.")

__all__ = ["LIBRARY", "READY_MADE_LOSSES", "log_softmax", "padded_rows", "texts"]


def padded_rows(rng: Random, rows: int, tokens: int) -> np.ndarray:
    """1 for a token of the text, 0 for padding at the end: (B, T) int32. One row is whole, one has two tokens."""
    lengths = np.array([tokens, 2, *rng.integers(2, tokens + 1, size=rows)])[:rows]
    return (np.arange(tokens) < lengths[:, None]).astype("int32")


def texts(rng: Random, rows: int, tokens: int, vocabulary: int) -> tuple[np.ndarray, np.ndarray]:
    """Ids of texts (B, T), in which padding is not 0 and 0 is a token; and which of them are real."""
    return whole_numbers(rng, vocabulary, rows, tokens), padded_rows(rng, rows, tokens)
