"""Examples → batches for training: any order, new masks in every batch, and a start at any step.

Batch number k is a pure function of the examples, the seed and k. Nothing is remembered from batch to batch, so
training that stopped at step k goes on with `start_batch=k`, at once and with the very batches it would have seen.
Two things make that possible:

- *Shuffling without a buffer.* The order of an epoch is a permutation that is computed, not stored: a small block
  cipher on the numbers 0 … N − 1 (a Feistel network; what falls outside is enciphered again until it falls inside). It
  mixes the whole corpus, however large, where a shuffle buffer mixes only neighbours.
- *Masks from (seed, k).* Dynamic masking (Liu et al. 2019, section 4.1) draws from a generator of the batch's own.
"""

import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import numpy as np

from bertlab.data.pretraining.masking import PieceTable, mask_rows
from bertlab.data.pretraining.settings import ExampleSettings
from bertlab.data.quiet import quiet
from bertlab.errors import DataError

_ROUNDS = 6


class Examples(Protocol):
    """Anything that has a length and gives rows by number, as a dict of arrays whose first dimension is the row."""

    def __len__(self) -> int: ...

    def take(self, rows: np.ndarray) -> dict[str, np.ndarray]: ...


class ExampleArrays:
    """Examples in memory, as `bertlab.data.pretraining.examples.make_examples` returns them."""

    def __init__(self, arrays: Mapping[str, np.ndarray]):
        sizes = {name: len(values) for name, values in arrays.items()}
        if len(set(sizes.values())) != 1:
            raise DataError(f"all arrays of examples must have the same number of rows, found {sizes}")
        self.arrays = dict(arrays)

    def __len__(self) -> int:
        return len(next(iter(self.arrays.values())))

    def take(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        return {name: values[rows] for name, values in self.arrays.items()}


class Batches:
    """All batches of a run by number: `batches[k]` is a dict of arrays with B rows.

    examples: where the rows come from. batch_size: B. shuffle_seed: None keeps the order of the examples; a number
    gives every epoch an order of its own. repeat: go on with the next epoch, without end and without short batches.
    drop_remainder: without `repeat`, leave out a last batch of fewer than B rows.
    masking: (table, settings) for rows that were made without masks; None for rows that have them.
    """

    def __init__(
        self,
        examples: Examples,
        batch_size: int,
        shuffle_seed: int | None = None,
        repeat: bool = False,
        drop_remainder: bool = True,
        masking: tuple[PieceTable, ExampleSettings] | None = None,
    ):
        if batch_size < 1:
            raise DataError(f"batch_size must be at least 1, not {batch_size}")
        if not len(examples):
            raise DataError("there are no examples to make batches of")
        if drop_remainder and not repeat and batch_size > len(examples):
            raise DataError(
                f"batch_size {batch_size} is more than the {len(examples)} examples: choose a smaller one, "
                "repeat=True or drop_remainder=False"
            )
        self.examples, self.batch_size, self.shuffle_seed = examples, batch_size, shuffle_seed
        self.repeat, self.drop_remainder, self.masking = repeat, drop_remainder, masking

    @property
    def per_epoch(self) -> int:
        """Batches that one pass over the examples takes; with `repeat`, a batch that spans two epochs counts once."""
        whole, rest = divmod(len(self.examples), self.batch_size)
        return whole + (rest > 0 and not (self.drop_remainder and not self.repeat))

    def __getitem__(self, number: int) -> dict[str, np.ndarray]:
        if number < 0 or not self.repeat and number >= self.per_epoch:
            raise IndexError(f"there is no batch {number}")
        batch = self.examples.take(self.rows_of(number))
        if self.masking is None:
            return batch
        table, settings = self.masking
        rng = np.random.default_rng([settings.seed, self.shuffle_seed or 0, number])
        return batch | mask_rows(batch["input_ids"], table, settings, rng)

    def rows_of(self, number: int) -> np.ndarray:
        """Which examples batch `number` consists of: (B,) int64."""
        size = len(self.examples)
        places = np.arange(number * self.batch_size, (number + 1) * self.batch_size)
        if not self.repeat:
            places = places[places < size]
        epochs, rows = np.divmod(places, size)
        return rows if self.shuffle_seed is None else permuted(rows, size, self.shuffle_seed, epochs)


def batches_of(
    examples: Examples | Mapping[str, np.ndarray],
    batch_size: int,
    shuffle_seed: int | None = None,
    repeat: bool = False,
    start_batch: int = 0,
    drop_remainder: bool = True,
    vocabulary=None,
    settings: ExampleSettings | None = None,
):
    """A `tf.data.Dataset` of batches, from arrays in memory or from records.

    start_batch: the number of the first batch; a run that has trained k steps goes on with k.
    vocabulary, settings: needed for rows made with `dynamic_masking`, whose masks are drawn here.
    Other arguments: see `Batches`. Every element is a dict of (B, T), (B, P) and (B,) tensors, int32 but for
    masked_lm_weights (float32), with static shapes where every batch is full. The same arguments give the same
    batches. Raises DataError if there is nothing to make batches of.
    """
    if isinstance(examples, Mapping):
        examples = ExampleArrays(examples)
    masking = None
    if "masked_lm_ids" not in examples.take(np.zeros(0, np.int64)):
        if vocabulary is None or settings is None:
            raise DataError("these rows were made without masks (dynamic_masking): pass vocabulary= and settings= too")
        masking = PieceTable.of(vocabulary), settings
    batches = Batches(examples, batch_size, shuffle_seed, repeat, drop_remainder, masking)
    return _as_dataset(batches, start_batch)


def _as_dataset(batches: Batches, start_batch: int):
    import tensorflow as tf

    first = batches[start_batch] if batches.repeat or start_batch < batches.per_epoch else batches[0]
    names = sorted(first)
    full = batches.repeat or batches.drop_remainder
    ahead = _Ahead(batches)

    def load(number):
        arrays = tf.numpy_function(
            lambda k: [ahead.get(int(k))[name] for name in names], [number], [first[name].dtype for name in names]
        )
        for name, array in zip(names, arrays):
            array.set_shape((batches.batch_size if full else None, *first[name].shape[1:]))
        return dict(zip(names, arrays))

    if batches.repeat:
        numbers = tf.data.Dataset.counter(start_batch)
    else:
        numbers = tf.data.Dataset.range(start_batch, batches.per_epoch)
    return quiet(numbers.map(load))


class _Ahead:
    """Makes the next batches in a thread of Python's while the model works on this one.

    `Dataset.prefetch` would do the same in a thread of TensorFlow's, which has to enter Python for every batch; when
    the interpreter shuts down meanwhile, thread and interpreter wait for each other for ever.
    """

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
    """How long the models of this process have waited, so far, for batches that were not ready."""
    return _Ahead.seconds_waited


# --- the permutation ---


def permuted(places: np.ndarray, size: int, seed: int, epochs: np.ndarray | int) -> np.ndarray:
    """For places in an epoch's order, the numbers of the examples that stand there: a bijection on 0 … size − 1.

    places: (B,) integers below `size`. epochs: (B,) or one number; each epoch has an order of its own.
    """
    half = np.uint64(max((size - 1).bit_length() + 1, 2) // 2)  # bits of each half of a number
    keys = [_mix(_mix(np.asarray(epochs, np.uint64)) + np.uint64(seed)) + np.uint64(n) for n in range(_ROUNDS)]
    keys = [np.broadcast_to(_mix(key), np.shape(places)) for key in keys]
    result = np.asarray(places).astype(np.uint64)
    outside = np.ones(result.shape, bool)
    while outside.any():
        result[outside] = _encipher(result[outside], [key[outside] for key in keys], half)
        outside = result >= size
    return result.astype(np.int64)


def _encipher(numbers: np.ndarray, keys: list[np.ndarray], half: np.uint64) -> np.ndarray:
    """A Feistel network on numbers of 2 · half bits: invertible whatever `_mix` does."""
    mask = (np.uint64(1) << half) - np.uint64(1)
    left, right = numbers >> half, numbers & mask
    for key in keys:
        left, right = right, left ^ (_mix(right ^ key) & mask)
    return (left << half) | right


def _mix(values: np.ndarray) -> np.ndarray:
    """SplitMix64's finalizer (Steele et al. 2014): every bit of the input changes every bit of the output."""
    with np.errstate(over="ignore"):
        values = np.asarray(values, np.uint64) + np.uint64(0x9E3779B97F4A7C15)
        values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return values ^ (values >> np.uint64(31))
