"""Cheap random numbers in a model: dropout (Srivastava et al. 2014), and tokens drawn from scores.

The backends' generators pass cryptographers' tests of randomness and are slow. Here the number for index i is a hash of
i and a key: a few integer operations that the compiler fuses into the product with the mask, the same on every backend.

Letters: B batch, T tokens, P predictions, V vocabulary.
"""

import math

import keras
from keras import ops

from bertlab.common.devices import replica_number

# Multipliers and shifts of "lowbias32" (Chris Wellons 2018, "Prospecting for Hash Functions"): of the 32-bit hashes of
# two multiplications, the one in which each input bit is closest to changing each output bit half of the time.
_FIRST, _SECOND = 0x7FEB352D, 0x846CA68B - 2**32  # as int32
GOLDEN = 0x9E3779B9 - 2**32  # odd, so that different indices stay different: 2³² / golden ratio


def _shifted(x, bits: int):
    """x >> bits with zeros coming in from the left; int32 has no unsigned shift."""
    return ops.bitwise_and(ops.right_shift(x, bits), 2 ** (32 - bits) - 1)


def hash_bits(x, key=0):
    """A hash of int32 numbers; `key`, int32 too, chooses one of 2³² such hashes. Any shape, elementwise."""
    x = ops.bitwise_xor(x, _shifted(x, 16)) * _FIRST
    x = ops.bitwise_xor(ops.bitwise_xor(x, _shifted(x, 15)), key) * _SECOND
    return ops.bitwise_xor(x, _shifted(x, 16))


def random_bits(shape, key):
    """Random int32 numbers from −2³¹ to 2³¹ − 1: at each index of `shape` a function of the index and `key`.

    key: (2,) integers, as `keras.random.SeedGenerator.next` gives them. It enters twice, so that the numbers of one key
    are not a shifted copy of another's.
    """
    key = ops.cast(key, "int32")
    first = hash_bits(key[0] + key[1] * GOLDEN)
    second = hash_bits(first + key[1])
    indices = ops.arange(math.prod(shape), dtype="int32")
    return ops.reshape(hash_bits(indices * GOLDEN + first, second), shape)


def next_key(seed_generator):
    """The next key of a `keras.random.SeedGenerator`, (2,) int32, which advances it; another one on each device."""
    seed, counter = ops.unstack(ops.cast(seed_generator.next(), "int32"))
    return ops.stack([seed, counter + replica_number() * GOLDEN])  # far from the counters of the other devices


@keras.saving.register_keras_serializable("bertlab")
class Dropout(keras.layers.Dropout):
    """In training, sets a fraction `rate` of its input to zero and divides the rest by 1 − rate.

    Arguments, configuration and the seed, which advances with every call, are those of `keras.layers.Dropout`.

    Example:
        >>> y = Dropout(0.5)(ops.ones((100, 100)), training=True)
        >>> sorted(set(ops.convert_to_numpy(y).flatten().tolist()))
        [0.0, 2.0]
    """

    def call(self, inputs, training=False):
        if not training or self.rate == 0:
            return inputs
        threshold = round(self.rate * 2**32) - 2**31
        kept = random_bits(ops.shape(inputs), next_key(self.seed_generator)) >= threshold
        return ops.where(kept, inputs / (1 - self.rate), ops.zeros_like(inputs))


def sample_tokens(logits, row_keys):
    """Draws a token for each prediction with the probabilities softmax(logits): argmax(logits + Gumbel noise).

    −log(E) with E exponentially distributed is Gumbel noise (Gumbel 1954; Maddison, Tarlow and Minka 2014, "A*
    Sampling", section 2). No gradient reaches the logits.

    logits: (B, P, V).   row_keys: (B,) int32 decide the draws of a row: `random_bits` or `row_keys_of`.
    Returns (B, P) int32.

    Example:
        >>> logits = ops.array([[[0.0, 50.0, 0.0]]])
        >>> ops.convert_to_numpy(sample_tokens(logits, ops.array([17]))).tolist()
        [[1]]
    """
    logits = ops.cast(ops.stop_gradient(ops.convert_to_tensor(logits)), "float32")
    indices = ops.arange(math.prod(ops.shape(logits)[1:]), dtype="int32")[None]  # (1, P·V)
    first = ops.cast(row_keys, "int32")[:, None]  # (B, 1)
    bits = hash_bits(indices * GOLDEN + first, hash_bits(first + GOLDEN))  # (B, P·V)
    positive = ops.bitwise_and(ops.right_shift(bits, 1), 2**31 - 1)  # 31 bits, so that small numbers stay exact
    uniform = (ops.cast(positive, "float32") + 0.5) / 2.0**31  # above 0; 1 gives ∞, a token that is never drawn
    exponential = ops.reshape(-ops.log1p(-uniform), ops.shape(logits))  # −log of it is Gumbel noise
    noisy = logits - ops.log(exponential)  # (B, P, V)
    is_highest = noisy >= ops.max(noisy, axis=-1, keepdims=True)
    tokens = ops.arange(logits.shape[-1], dtype="int32")
    # Unlike argmax this needs no search for an index, which is slow on CPUs.
    return ops.min(ops.where(is_highest, tokens, logits.shape[-1] - 1), axis=-1)


def row_keys_of(ids):
    """A key for each row that depends on its tokens alone: a row then always gets the same draws. ids (B, T) → (B,).

    Example:
        >>> first, second, third = ops.convert_to_numpy(row_keys_of(ops.array([[7, 8], [8, 7], [7, 8]]))).tolist()
        >>> first == third, first == second
        (True, False)
    """
    ids = ops.cast(ids, "int32")
    indices = ops.arange(ops.shape(ids)[1], dtype="int32")[None]  # (1, T)
    return ops.cast(ops.sum(hash_bits(ids, hash_bits(indices + 1)), axis=1), "int32")
