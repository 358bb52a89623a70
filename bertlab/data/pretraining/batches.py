"""Stored rows → batches by number, and a start at any step.

Batch number k is a pure function of the rows, the seed and k: a computed permutation gives its rows, and its collators
draw from generators of its own. So training that stopped at step k resumes at once and with the same batches.

The permutation is a small block cipher on the numbers 0 … N − 1 (a Feistel network; a number that falls outside is
enciphered again until it falls inside). It mixes the whole corpus, however large, where a shuffle buffer mixes only
neighbours, and any position in any epoch is computed directly.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from bertlab.common.errors import DataError
from bertlab.data.pretraining.collators import Collator


class ExampleArrays:
    """Examples in memory, as `make_examples` returns them, with the methods of `records.ExampleFiles`."""

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

    examples: `ExampleArrays` or `ExampleFiles`. batch_size: B. shuffle_seed: None keeps the order of the examples; a
    number gives every epoch its own order. repeat: continue with the next epoch, without end and without short batches.
    drop_remainder: without `repeat`, leave out a last batch of fewer than B rows. collators: applied to every batch,
    one after the other.
    """

    def __init__(
        self,
        examples,
        batch_size: int,
        shuffle_seed: int | None = None,
        repeat: bool = False,
        drop_remainder: bool = True,
        collators: Sequence[Collator] = (),
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
        self.repeat, self.drop_remainder, self.collators = repeat, drop_remainder, collators

    @property
    def per_epoch(self) -> int:
        """Batches that one pass over the examples takes; with `repeat`, a batch that spans two epochs counts once."""
        whole, rest = divmod(len(self.examples), self.batch_size)
        return whole + (rest > 0 and not (self.drop_remainder and not self.repeat))

    def __getitem__(self, number: int) -> dict[str, np.ndarray]:
        if number < 0 or not self.repeat and number >= self.per_epoch:
            raise IndexError(f"there is no batch {number}")
        batch = self.examples.take(self.rows_of(number))
        for collate in self.collators:
            batch = collate(batch, number)
        return batch

    def rows_of(self, number: int) -> np.ndarray:
        """The examples of batch `number`: (B,) int64."""
        size = len(self.examples)
        indices = np.arange(number * self.batch_size, (number + 1) * self.batch_size)
        if not self.repeat:
            indices = indices[indices < size]
        epochs, rows = np.divmod(indices, size)
        return rows if self.shuffle_seed is None else permuted(rows, size, self.shuffle_seed, epochs)


# === Shuffling ===

_ROUNDS = 6


def permuted(positions: np.ndarray, size: int, seed: int, epochs: np.ndarray | int) -> np.ndarray:
    """The numbers of the examples at positions in an epoch's order: a bijection on 0 … size − 1.

    positions: (B,) integers below `size`. epochs: (B,) or one number; each epoch has its own order.
    """
    half = np.uint64(max((size - 1).bit_length() + 1, 2) // 2)  # bits of each half of a number
    keys = [_mix(_mix(np.asarray(epochs, np.uint64)) + np.uint64(seed)) + np.uint64(n) for n in range(_ROUNDS)]
    keys = [np.broadcast_to(_mix(key), np.shape(positions)) for key in keys]
    result = np.asarray(positions).astype(np.uint64)
    outside = np.ones(result.shape, bool)
    while outside.any():
        result[outside] = _encipher(result[outside], [key[outside] for key in keys], half)
        outside = result >= size
    return result.astype(np.int64)


def _encipher(numbers: np.ndarray, keys: list[np.ndarray], half: np.uint64) -> np.ndarray:
    """A Feistel network on numbers of 2 · half bits: invertible for any function `_mix`."""
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
