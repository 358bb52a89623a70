"""Seeds without their price: TensorFlow's kernels are made again only where a seed can matter to them.

`tf.random.set_seed` empties TensorFlow's cache of kernels, because a kernel that draws random numbers counts what it
has drawn. Every operation then makes its kernel again: a third of the time of a plan with many seeded questions about
a layer. Keras draws with operations that keep no count. The instructor's side only.
"""

import contextlib
import random
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def kernels_kept() -> Iterator[None]:
    """Inside the block a seed empties TensorFlow's cache of kernels only after a kernel that counts was asked for.

    Every such operation gets its seeds from `get_seed`. The first seed of the block empties the cache: nobody knows
    what ran before. Where TensorFlow is not loaded, nothing changes.
    """
    if "tensorflow" not in sys.modules:
        yield
        return
    import tensorflow as tf
    from tensorflow.python.eager.context import context
    from tensorflow.python.framework import random_seed

    set_seed, get_seed, counted = tf.random.set_seed, random_seed.get_seed, True

    def set_without_emptying(seed):
        nonlocal counted
        if counted:
            set_seed(seed)
            counted = False
        else:
            context()._seed, context()._rng = seed, random.Random(seed)

    def get_and_note(op_seed):
        nonlocal counted
        counted = True
        return get_seed(op_seed)

    tf.random.set_seed, random_seed.get_seed = set_without_emptying, get_and_note
    try:
        yield
    finally:
        tf.random.set_seed, random_seed.get_seed = set_seed, get_seed
