"""Shuffling without a buffer: the order of an epoch is a permutation that is computed, not stored.

The permutation is a small block cipher on the numbers 0 … N − 1 (a Feistel network; a number that falls outside is
enciphered again until it falls inside). It mixes the whole corpus, however large, where a shuffle buffer mixes only
neighbours, and any position in any epoch is computed directly.
"""

import numpy as np

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
