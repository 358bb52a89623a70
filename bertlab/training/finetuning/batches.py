"""Batches of few different shapes, because a model is compiled again for each.

Every batch has as many rows as the others and one of a few lengths. The last, incomplete batch of an epoch or of a file
is filled up with copies of a row: they carry no target, so that no loss sees them, and their outputs are thrown away.
No row is lost in training, evaluation or prediction.

Letters: N rows, B rows of a batch, T tokens.
"""

from collections.abc import Callable, Iterator
from itertools import count

import numpy as np

from bertlab.data.tasks.features import IGNORED, Batch, Features

LENGTHS = (16, 32, 64, 128, 192, 256, 384, 512)  # T of a batch is the first that its longest row fits


def padded_length(longest: int, limit: int) -> int:
    """The length of a batch whose longest row has `longest` tokens; `limit` is the longest that the model reads."""
    return next((length for length in LENGTHS if longest <= length <= limit), limit)


def full_batch(features: Features, indices: np.ndarray, batch_size: int, limit: int) -> Batch:
    """(inputs, targets) of some rows, filled up to `batch_size` with copies of the first, whose targets are ignored."""
    missing = batch_size - len(indices)
    filled = np.concatenate([indices, np.repeat(indices[:1], missing)])
    inputs, targets = features.batch(filled, padded_length(int(features.lengths[filled].max()), limit))
    if targets is not None and missing:
        parts = targets.values() if isinstance(targets, dict) else [targets]
        for part in parts:  # arrays of their own: selecting rows has copied them
            part[len(indices) :] = np.nan if part.dtype.kind == "f" else IGNORED
    return inputs, targets


def batches_by_length(features: Features, batch_size: int, limit: int, seed: int) -> Iterator[Iterator[Batch]]:
    """Epoch after epoch, every row once, rows of similar length together; the same seed gives the same batches."""
    for epoch in count(1):
        indices = features.batch_indices(batch_size, seed * 1000 + epoch)
        yield (full_batch(features, batch, batch_size, limit) for batch in indices)


def batches_as_fit(features: Features, batch_size: int, limit: int, seed: int) -> Iterator[Iterator[Batch]]:
    """Epoch after epoch, every row once, in the order of Keras's `fit` after `keras.utils.set_random_seed(seed)`.

    `fit` draws it with TensorFlow's shuffle and, after that call, draws the same one in every epoch.
    """
    import tensorflow as tf

    rows = len(features)
    tf.random.set_seed(seed)
    orders = tf.data.Dataset.range(1).map(lambda _: tf.random.shuffle(tf.range(rows, dtype=tf.int64)))
    order = next(iter(orders)).numpy()
    while True:
        starts = range(0, rows, batch_size)
        yield (full_batch(features, order[start : start + batch_size], batch_size, limit) for start in starts)


EPOCHS = {"length": batches_by_length, "fit": batches_as_fit}  # by a recipe's row_order


def ignore(rows: int) -> None:
    """The function to call after each batch if nobody wants to know the number of rows."""


def outputs_of(
    predict: Callable,
    features: Features,
    batch_size: int,
    limit: int,
    advance: Callable[[int], None] = ignore,
) -> list:
    """The model's output for each row, in the order of the rows, as float32.

    predict: inputs of a batch → an array (B, …), or a dict of such arrays; a list of N arrays or dicts is returned. An
    output for each token is as long as the row's batch, padding included. advance: called with the number of rows done.
    """
    order = np.argsort(features.lengths, kind="stable")
    outputs: list = [None] * len(features)
    for start in range(0, len(order), batch_size):
        indices = order[start : start + batch_size]
        inputs, _ = full_batch(features, indices, batch_size, limit)
        batch = predict(inputs)
        for row, index in enumerate(indices):
            outputs[index] = _row(batch, row)
        advance(len(indices))
    return outputs


def _row(batch, row: int):
    if isinstance(batch, dict):
        return {name: _row(values, row) for name, values in batch.items()}
    return np.asarray(batch[row], np.float32)
