"""Several devices, one run: each holds the whole model and computes its part of every batch (data parallelism).

On JAX the compiler cuts the batch and adds up what must be added (`keras.distribution.DataParallel`). On TensorFlow
every device runs the same step on its own rows (`tf.distribute`), and this module computes the sums that all devices
need over the whole batch: the number of predictions, and the gradient before it is clipped.

The devices may belong to several machines (see `machines`), on each of which the same command runs: every machine makes
the same batches and trains on its own rows of them.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import keras

from bertlab.common.errors import ConfigError
from bertlab.training.devices.machines import this_machine


@contextmanager
def data_parallel(devices: int) -> Iterator[None]:
    """Models made and trained inside use `devices` devices of each machine. Raises ConfigError when there are fewer.

    Without a GPU, TensorFlow divides the processor into that many virtual devices, only for trying things
    out; with JAX, XLA_FLAGS=--xla_force_host_platform_device_count=N does that.
    """
    if devices == 1 and this_machine().count == 1:
        yield
        return
    check_backend(devices)
    strategies = {"tensorflow": _tensorflow_scope if this_machine().count == 1 else _machines_scope, "jax": _jax_scope}
    with strategies[keras.backend.backend()](devices):
        yield


def check_backend(devices: int) -> None:
    """Raises ConfigError for several devices on a backend whose devices cannot share a batch here."""
    if devices > 1 and keras.backend.backend() not in ("tensorflow", "jax"):
        raise ConfigError(
            f"expected TensorFlow or JAX for several devices, got {keras.backend.backend()}; choose devices=1"
        )


@contextmanager
def _jax_scope(devices: int) -> Iterator[None]:
    import jax

    used = []
    for number in range(jax.process_count()):
        found = [f"{device.platform}:{device.id}" for device in jax.devices() if device.process_index == number]
        _check_number(devices, len(found))
        used += found[:devices]
    before = keras.distribution.distribution()
    keras.distribution.set_distribution(keras.distribution.DataParallel(devices=used, auto_shard_dataset=False))
    try:
        yield
    finally:
        keras.distribution.set_distribution(before)


@contextmanager
def _tensorflow_scope(devices: int) -> Iterator[None]:
    import tensorflow as tf

    names = _tensorflow_devices(devices)
    # The reduction that every machine has; with GPUs the strategy's own choice (NCCL) is the faster one.
    on_host = names[0].startswith("CPU")
    strategy = tf.distribute.MirroredStrategy(
        names, cross_device_ops=tf.distribute.ReductionToOneDevice() if on_host else None
    )
    with strategy.scope():
        yield


@contextmanager
def _machines_scope(devices: int) -> Iterator[None]:
    import tensorflow as tf

    cards = tf.config.list_physical_devices("GPU")
    _check_number(devices, max(1, len(cards)))
    try:
        if cards:
            tf.config.set_visible_devices(cards[:devices], "GPU")
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
    except RuntimeError as error:  # TensorFlow has started already
        raise ConfigError(f"several machines must connect before TensorFlow computes anything: {error}") from None
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
    except RuntimeError:  # TensorFlow has started: its devices cannot be changed
        _check_number(devices, len(tf.config.list_logical_devices("CPU")))
    return [f"CPU:{i}" for i in range(devices)]


def _check_number(wanted: int, found: int) -> None:
    if wanted > found:
        raise ConfigError(f"expected at most {found} devices, got {wanted}; only {found} are visible here")


# --- batches ---


def on_this_machine(batches):
    """The batches that Keras gets here: with several machines, this machine's rows of the whole run's batches.

    batches: a `tf.data.Dataset` of dicts whose number of rows is known and can be divided among all devices.
    """
    here = this_machine()
    if here.count == 1:
        return batches
    rows = next(iter(batches.element_spec.values())).shape[0] // here.count
    first = here.number * rows
    own = batches.map(lambda batch: {name: values[first : first + rows] for name, values in batch.items()})
    if keras.backend.backend() == "jax":
        return own
    import tensorflow as tf

    strategy = tf.distribute.get_strategy()
    per_device = rows * here.count // strategy.num_replicas_in_sync
    return strategy.distribute_datasets_from_function(lambda context: own.rebatch(per_device))


def on_devices(batch: dict) -> dict:
    """A batch for Keras's `train_on_batch` and its relatives: TensorFlow's devices get equal runs of its rows each.

    JAX cuts a batch by itself. batch: a dict of arrays whose number of rows can be divided among all devices.
    """
    devices = num_replicas()
    if devices == 1:
        return batch
    import tensorflow as tf

    def rows_of(context) -> dict:
        number = context.replica_id_in_sync_group
        parts = {name: len(values) // devices for name, values in batch.items()}
        return {name: tf.constant(batch[name][number * rows : (number + 1) * rows]) for name, rows in parts.items()}

    return tf.distribute.get_strategy().experimental_distribute_values_from_function(rows_of)


# --- inside a step ---


def num_replicas() -> int:
    """The number of devices that run this step, each on its own rows: 1 on JAX, where a step sees the whole batch."""
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


def first_over_replicas(step):
    """The smallest number of all devices, int32 scalars, that is not 0; 0 if all are 0."""
    if num_replicas() == 1:
        return step
    import tensorflow as tf

    index = tf.distribute.get_replica_context().replica_id_in_sync_group
    own = tf.one_hot(index, num_replicas(), dtype="int32") * tf.cast(step, "int32")  # (R,), its number at its index
    steps = sum_over_replicas(own)  # (R,), of all devices
    largest = tf.int32.max
    first = tf.reduce_min(tf.where(steps > 0, steps, largest))
    return tf.where(first < largest, first, 0)


def shared_gradients(optimizer, gradients: list) -> list:
    """The gradients that each device passes to the optimizer, so that the update is that of the whole batch.

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


def on_several_machines() -> bool:
    """Whether this step also runs on other machines: never on JAX, see `num_replicas`."""
    return keras.backend.backend() == "tensorflow" and this_machine().count > 1


def metrics_of_device(metrics: dict) -> dict:
    """The metrics of a step, in the shape in which Keras takes the mean over all devices.

    On several machines Keras 3.15 takes it along the first axis (`reduce_per_replica`), which a scalar does not have.
    """
    if not on_several_machines():
        return metrics
    return {name: keras.ops.reshape(value, (1,)) for name, value in metrics.items()}
