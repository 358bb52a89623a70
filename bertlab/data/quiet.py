"""Data sets whose batches come from Python, without threads of TensorFlow's behind them."""


def quiet(dataset):
    """The `tf.data.Dataset`, with options that keep tf.data from starting threads of its own behind it.

    They also hold for everything that is built on it.
    """
    import tensorflow as tf

    options = tf.data.Options()
    # A thread of TensorFlow's that waits for Python while the interpreter shuts down waits for ever. `prefetch` makes
    # such a thread, and so does a `map` that is made parallel behind one's back.
    options.experimental_optimization.inject_prefetch = False
    options.experimental_optimization.map_parallelization = False
    # There is nothing to tune, and the tuner sleeps for up to a minute: an iterator that is deleted now and then misses
    # its chance to wake it and waits (seen with TensorFlow 2.21: `fit` returned 50 to 85 s after its last step).
    options.autotune.enabled = False
    return dataset.with_options(options)
