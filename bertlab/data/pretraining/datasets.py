"""Batches as a `tf.data.Dataset`, made in a Python thread while the model works. Rows: in memory or in records."""

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import tensorflow as tf

from bertlab.data.pretraining.batches import Batches, ExampleArrays
from bertlab.data.pretraining.collators import Collator


def batches_of(
    examples,
    batch_size: int,
    shuffle_seed: int | None = None,
    repeat: bool = False,
    start_batch: int = 0,
    drop_remainder: bool = True,
    collators: Sequence[Collator] = (),
) -> tf.data.Dataset:
    """A `tf.data.Dataset` of batches, from arrays in memory (a dict or `ExampleArrays`) or `ExampleFiles`.

    start_batch: the number of the first batch; a run that has trained k steps resumes with k. The others: see
    `Batches`. Every element is a dict of (B, T), (B, P) and (B,) tensors, int32 except weights (float32), with static
    shapes where every batch is full. The same arguments give the same batches. Raises DataError if there is nothing to
    make batches of.

    Example:
        batches_of(make_examples(documents, tokenizer), 32, shuffle_seed=1, repeat=True, start_batch=500)
    """
    if isinstance(examples, Mapping):
        examples = ExampleArrays(examples)
    batches = Batches(examples, batch_size, shuffle_seed, repeat, drop_remainder, collators)
    first = batches[start_batch] if repeat or start_batch < batches.per_epoch else batches[0]
    names, ahead = sorted(first), _Ahead(batches)

    def load(number):
        arrays = tf.numpy_function(
            lambda k: [ahead.get(int(k))[name] for name in names], [number], [first[name].dtype for name in names]
        )
        for name, array in zip(names, arrays):
            array.set_shape((batch_size if repeat or drop_remainder else None, *first[name].shape[1:]))
        return dict(zip(names, arrays))

    if repeat:
        numbers = tf.data.Dataset.counter(start_batch)
    else:
        numbers = tf.data.Dataset.range(start_batch, batches.per_epoch)
    return _quiet(numbers.map(load))


def _quiet(dataset: tf.data.Dataset) -> tf.data.Dataset:
    """The data set, and all that is built on it, with options that keep tf.data from starting threads behind it."""
    options = tf.data.Options()
    # A thread of TensorFlow's that waits for Python while the interpreter shuts down waits for ever. `prefetch` makes
    # such a thread, and so does a `map` that is made parallel behind one's back.
    options.experimental_optimization.inject_prefetch = False
    options.experimental_optimization.map_parallelization = False
    # There is nothing to tune, and the tuner sleeps for up to a minute: an iterator that is deleted now and then misses
    # its chance to wake it and waits (seen with TensorFlow 2.21: `fit` returned 50 to 85 s after its last step).
    options.autotune.enabled = False
    return dataset.with_options(options)


class _Ahead:
    """Makes the next batches in a Python thread while the model works; for `Dataset.prefetch` see `_quiet`."""

    BATCHES = 4
    seconds_waited = 0.0  # by all data sets of this process

    def __init__(self, batches: Batches):
        self._batches = batches
        self._thread = ThreadPoolExecutor(max_workers=1)
        self._futures = {}

    def get(self, number: int) -> dict[str, np.ndarray]:
        last = number + self.BATCHES + 1
        if not self._batches.repeat:
            last = min(last, self._batches.per_epoch)
        kept = {n: future for n, future in self._futures.items() if number <= n < last}
        for n in range(number, last):
            if n not in kept:
                kept[n] = self._thread.submit(self._batches.__getitem__, n)
        self._futures = kept
        start = time.perf_counter()
        batch = kept[number].result()
        _Ahead.seconds_waited += time.perf_counter() - start
        return batch


def seconds_waited() -> float:
    """The seconds that the models of this process have waited, so far, for batches that were not ready."""
    return _Ahead.seconds_waited
