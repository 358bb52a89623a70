"""Inputs and helpers shared by the exercises of notebook P."""

import numpy as np

from autograde.exercises.writing import Forbidden, Random

READY_MADE_LOSSES = Forbidden(
    "In this exercise you write the loss yourself; you may use `ops.log_softmax`.",
    (
        "keras.losses",
        "keras.ops.categorical_crossentropy",
        "keras.ops.sparse_categorical_crossentropy",
        "tensorflow.nn.softmax_cross_entropy_with_logits",
        "tensorflow.nn.sparse_softmax_cross_entropy_with_logits",
    ),
)
READY_MADE_CELLS = Forbidden(
    "In this exercise you write the step yourself.",
    tuple(
        f"keras.layers.{name}" for name in ("SimpleRNN", "SimpleRNNCell", "LSTM", "LSTMCell", "GRU", "GRUCell", "RNN")
    ),
)


def log_softmax(x):
    shifted = x - x.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def sigmoid(x):
    return (1 + np.tanh(x / 2)) / 2


def some_real(rng: Random, rows: int, columns: int) -> np.ndarray:
    """1 for what is real, 0 for padding, in any place; each row has a 1 and, if it can, a 0: (rows, columns) int32."""
    real = (rng.random((rows, columns)) < 0.5).astype("int32")
    real[:, -1], real[:, 0] = 0, 1  # of one column: 1
    return rng.permuted(real, axis=1)
