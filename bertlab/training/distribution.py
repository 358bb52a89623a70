"""Several devices, one run: each holds the whole model and computes its part of every batch (data parallelism).

On JAX the compiler cuts the batch and adds up what must be added (`keras.distribution.DataParallel`). On TensorFlow
every device runs the same step on its own rows (`tf.distribute`), and sums over the batch, which the devices must
agree on, are spelt out here: the number of predictions, and the gradient before it is clipped.

One machine only: Keras 3.15 cannot train under `tf.distribute.MultiWorkerMirroredStrategy`, as it reduces the figures
of a step over an axis that they do not have (`reduce_per_replica`); a run with TF_CONFIG set is refused.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import keras

from bertlab.errors import ConfigError


@contextmanager
def data_parallel(devices: int) -> Iterator[None]:
    """Models made and trained inside use `devices` devices. Raises ConfigError when there are fewer.

    Without a graphics card TensorFlow cuts the processor into so many virtual devices, which is for trying things
    out only; with JAX, XLA_FLAGS=--xla_force_host_platform_device_count=N does that.
    """
    if "TF_CONFIG" in os.environ:
        raise ConfigError("TF_CONFIG is set, but a run cannot use several machines: unset it, and use --devices")
    if devices == 1:
        yield
        return
    strategies = {"tensorflow": _tensorflow_scope, "jax": _jax_scope}
    if keras.backend.backend() not in strategies:
        raise ConfigError(f"several devices are for TensorFlow and JAX, not for {keras.backend.backend()}")
    with strategies[keras.backend.backend()](devices):
        yield


@contextmanager
def _jax_scope(devices: int) -> Iterator[None]:
    found = keras.distribution.list_devices()
    _check_number(devices, len(found))
    before = keras.distribution.distribution()
    keras.distribution.set_distribution(
        keras.distribution.DataParallel(devices=found[:devices], auto_shard_dataset=False)
    )
    try:
        yield
    finally:
        keras.distribution.set_distribution(before)


@contextmanager
def _tensorflow_scope(devices: int) -> Iterator[None]:
    import tensorflow as tf

    names = _tensorflow_devices(devices)
    # The reduction that every machine has; with graphics cards the strategy's own choice (NCCL) is the faster one.
    on_host = names[0].startswith("CPU")
    strategy = tf.distribute.MirroredStrategy(
        names, cross_device_ops=tf.distribute.ReductionToOneDevice() if on_host else None
    )
    with strategy.scope():
        yield


def _tensorflow_devices(devices: int) -> list[str]:
    import tensorflow as tf

    cards = tf.config.list_physical_devices("GPU")
    if cards:
        _check_number(devices, len(cards))
        return [f"GPU:{i}" for i in range(devices)]
    host = tf.config.list_physical_devices("CPU")[0]
    try:
        tf.config.set_logical_device_configuration(host, [tf.config.LogicalDeviceConfiguration()] * devices)
    except RuntimeError:  # TensorFlow has started: its devices are what they are
        _check_number(devices, len(tf.config.list_logical_devices("CPU")))
    return [f"CPU:{i}" for i in range(devices)]


def _check_number(wanted: int, found: int) -> None:
    if wanted > found:
        raise ConfigError(f"{wanted} devices were asked for, but {found} can be seen: choose at most {found}")


# --- inside a step ---


def num_replicas() -> int:
    """How many devices run this very step on rows of their own: 1 on JAX, where a step sees the whole batch."""
    if keras.backend.backend() != "tensorflow":
        return 1
    import tensorflow as tf

    return tf.distribute.get_strategy().num_replicas_in_sync


def sum_over_replicas(value):
    """The sum of a tensor, or of each in a list, over all devices."""
    if num_replicas() == 1:
        return value
    import tensorflow as tf

    return tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.SUM, value)


def shared_gradients(optimizer, gradients: list) -> list:
    """What each device hands to the optimizer, so that the update is that of the whole batch.

    Keras's optimizer clips a device's gradient before it adds up those of all devices. Here the sum is taken and
    clipped first; the optimizer's own sum over N devices is undone by dividing by N, and it finds nothing to clip.
    """
    replicas = num_replicas()
    if replicas == 1:
        return gradients
    import tensorflow as tf

    gradients = sum_over_replicas(gradients)
    inner = getattr(optimizer, "inner_optimizer", optimizer)  # float16: inside the one that scales the loss
    if inner.global_clipnorm is not None:
        longest = optimizer.scale_loss(tf.constant(inner.global_clipnorm, "float32"))
        gradients, _ = tf.clip_by_global_norm(gradients, longest)
    return [gradient / replicas for gradient in gradients]
