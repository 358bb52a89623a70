"""Inputs and helpers shared by the exercises of notebook 07."""

import numpy as np

from autograde.exercises.writing import Forbidden, Random, normal, whole_numbers

READY_MADE_LOSSES = Forbidden(
    "In this exercise you write the loss yourself; you may use `ops.log_softmax`.",
    (
        "keras.losses",
        "keras.ops.categorical_crossentropy",
        "keras.ops.sparse_categorical_crossentropy",
        "tensorflow.nn.softmax_cross_entropy_with_logits",
        "tensorflow.nn.sparse_softmax_cross_entropy_with_logits",
        "keras.ops.binary_crossentropy",
        "tensorflow.nn.sigmoid_cross_entropy_with_logits",
    ),
)


def log_softmax(x):
    shifted = x - x.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def some_padding(rng: Random, rows: int, predictions: int) -> np.ndarray:
    """1 for a prediction, 0 for padding at the end; rows differ in length: (B, P) float32."""
    lengths = 1 + (rng.integers(0, predictions) + np.arange(rows)) % predictions
    return (np.arange(predictions) < lengths[:, None]).astype("float32")


def predictions_of(rng: Random, rows: int, predictions: int, pieces: int, size: float = 2.0) -> tuple:
    """logits (B, P, V), labels (B, P), weights (B, P). One prediction that counts has the label 0."""
    logits, labels = normal(rng, rows, predictions, pieces, size=size), whole_numbers(rng, pieces, rows, predictions)
    labels[0, 0], labels[0, 1:] = 0, 1 + labels[0, 1:] % (pieces - 1)
    return logits, labels, some_padding(rng, rows, predictions)


def positions_in_rows(rng: Random, rows: int, tokens: int, predictions: int) -> np.ndarray:
    """Rising positions, other ones in each row: (B, P) int32."""
    return np.stack([np.sort(rng.choice(tokens, predictions, replace=False)) for _ in range(rows)]).astype("int32")


def rows_of_tokens(rng: Random, rows: int, tokens: int, predictions: int, padded: bool, pieces: int) -> tuple:
    """token_ids, token_type_ids, attention_mask (B, T) and positions (B, P)."""
    lengths = np.array([tokens, *(rng.integers(predictions + 1, tokens, size=rows - 1))]) if padded else tokens
    is_real = np.broadcast_to(np.arange(tokens) < np.reshape(lengths, (-1, 1)), (rows, tokens))
    starts = rng.integers(2, tokens - 1, size=(rows, 1))
    segments = ((np.arange(tokens) >= starts) & is_real).astype("int32")
    positions = positions_in_rows(rng, rows, predictions + 1, predictions)
    return whole_numbers(rng, pieces, rows, tokens), segments, is_real.astype("int32"), positions
