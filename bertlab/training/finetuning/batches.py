"""Batches of few different shapes, because a model is compiled again for each.

Every batch has as many rows as the others and one of a few lengths. The last, incomplete batch of an epoch or of a file
is filled up with copies of a row: they carry no target, so that no loss sees them, and their outputs are thrown away.
No row is lost in training, evaluation or prediction.

Of several tasks, each batch has rows of one, in a drawn order. An epoch has as many batches as all tasks together have.
A task with n batches gets a number that is proportional to n^a: with a = 1 every row is read once, as where the tasks'
batches are put together and shuffled (Liu et al. 2019, "Multi-Task Deep Neural Networks", algorithm 1); with a = 0.5
small tasks are read more often (Stickland and Murray 2019, "BERT and PALs", section 4); with a = 0 all tasks equally.

Letters: N rows, B rows of a batch, T tokens.
"""

from collections.abc import Callable, Iterator
from itertools import count

import numpy as np

from bertlab.data.tasks.features import IGNORED, Batch, Features

TASK = "task:"  # + the task's name: the key of an array in a batch of several tasks: the task of its rows
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


def shares(features: dict[str, Features], batch_size: int, exponent: float) -> dict[str, int]:
    """The number of batches of each task in an epoch, at least one each. features: of each task, something with N rows.

    Example:
        >>> shares({"large": range(90), "small": range(10)}, batch_size=1, exponent=0.5)
        {'large': 75, 'small': 25}
    """
    batches = {name: -(-len(own) // batch_size) for name, own in features.items()}
    total, powers = sum(batches.values()), {name: n**exponent for name, n in batches.items()}
    exact = {name: total * power / sum(powers.values()) for name, power in powers.items()}
    found = {name: max(1, int(value)) for name, value in exact.items()}
    for name in sorted(exact, key=lambda name: int(exact[name]) - exact[name])[: max(0, total - sum(found.values()))]:
        found[name] += 1  # the largest remainders
    return found


def batches_by_length(
    features: dict[str, Features], batch_size: int, limit: int, seed: int, exponent: float = 1.0
) -> Iterator[Iterator[Batch]]:
    """Epoch after epoch, rows of similar length together; the same seed gives the same batches.

    features: by task. A task whose rows are used up begins again in another order. Of several, a batch names its task.
    """
    per_epoch = shares(features, batch_size, exponent)
    names = np.repeat(list(per_epoch), list(per_epoch.values())).tolist()

    def one_epoch(epoch: int) -> Iterator[Batch]:
        rows = {name: _indices(features[name], batch_size, seed, epoch * read) for name, read in per_epoch.items()}
        for number in np.random.default_rng([seed, epoch]).permutation(len(names)):
            name = names[number]
            inputs, targets = full_batch(features[name], next(rows[name]), batch_size, limit)
            yield (inputs | task_key(name, batch_size) if len(features) > 1 else inputs), targets

    return map(one_epoch, count())


def _indices(features: Features, batch_size: int, seed: int, first: int) -> Iterator[np.ndarray]:
    """The rows of each batch of a task from batch `first` on, counted from 0 over all passes over its rows."""
    passes, first = divmod(first, -(-len(features) // batch_size))
    for number in count(passes + 1):
        yield from features.batch_indices(batch_size, seed * 1000 + number)[first:]
        first = 0


def task_key(name: str, rows: int) -> dict[str, np.ndarray]:
    """The array that names the task of a batch, beside its inputs."""
    return {TASK + name: np.zeros(rows, np.int32)}


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


def outputs_of(
    predict: Callable, features: Features, batch_size: int, limit: int,
    advance: Callable[[int], None] = lambda rows: None,
) -> list:  # fmt: skip
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
