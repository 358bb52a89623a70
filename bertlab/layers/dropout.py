"""Dropout (Srivastava et al. 2014) with cheap random numbers.

A model with dropout needs a random number for every dropped-out activation. The backends' generators
pass cryptographers' tests of randomness and are slow: on a CPU they took a fifth of a whole training step. Here the
number for index i is a hash of i and a key: a few integer operations that the compiler fuses into the product with the
mask, the same on every backend.
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
