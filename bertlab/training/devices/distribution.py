"""Several devices, one run: each holds the whole model and computes its part of every batch (data parallelism).

On JAX the compiler cuts the batch and adds up what must be added (`keras.distribution.DataParallel`). On TensorFlow
every device runs the same step on its own rows (`tf.distribute`), and this module computes the sums that all devices
need over the whole batch: the number of predictions, and the gradient before it is clipped.

The devices may belong to several machines, on each of which the same command runs: every machine makes the same batches
and trains on its own rows of them. Which one this is, is read from the variables that cluster managers set. TensorFlow
reads TF_CONFIG, JSON such as

    {"cluster": {"worker": ["10.0.0.1:2222", "10.0.0.2:2222"]}, "task": {"type": "worker", "index": 0}}

and Keras on JAX reads KERAS_DISTRIBUTION_JOB_ADDRESSES (the first machine's), …_NUM_PROCESSES and …_PROCESS_ID. The
first machine is the chief: it alone writes the run's folder. The others read the states there, so all must see it.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import keras
import numpy as np

from bertlab.common.errors import ConfigError

TF_CONFIG = "TF_CONFIG"
NUM_PROCESSES, PROCESS_ID = "KERAS_DISTRIBUTION_NUM_PROCESSES", "KERAS_DISTRIBUTION_PROCESS_ID"
_EXAMPLE = '{"cluster": {"worker": ["10.0.0.1:2222", "10.0.0.2:2222"]}, "task": {"type": "worker", "index": 0}}'

# === Machines ===


@dataclass(frozen=True)
class Machine:
    """This machine's number, from 0, among `count` machines."""

    number: int = 0
    count: int = 1

    @property
    def is_chief(self) -> bool:
        """Whether this machine writes the files."""
        return self.number == 0


def this_machine() -> Machine:
    """This process among all machines, by the variables of its Keras backend. Raises ConfigError for wrong ones."""
    backend, config = keras.backend.backend(), os.environ.get(TF_CONFIG)
    if backend == "tensorflow" and config:
        found, source = _by_tf_config(config), TF_CONFIG
    elif backend == "jax":
        texts = os.environ.get(PROCESS_ID, "0"), os.environ.get(NUM_PROCESSES, "1")
        source = f"{PROCESS_ID} and {NUM_PROCESSES}"
        try:
            found = Machine(*map(int, texts))
        except ValueError:
            raise ConfigError(f"{source} must be whole numbers, not {texts}") from None
    else:
        return Machine()
    if not 0 <= found.number < found.count:
        raise ConfigError(f"{source}: there is no machine {found.number} among {found.count}; they count from 0")
    return found


def _by_tf_config(text: str) -> Machine:
    try:
        config = json.loads(text)
        cluster, kind, index = config["cluster"], config["task"]["type"], int(config["task"]["index"])
        kinds = [name for name in ("chief", "worker") if name in cluster]
        before = {name: sum(len(cluster[earlier]) for earlier in kinds[:i]) for i, name in enumerate(kinds)}
        return Machine(before[kind] + index, sum(len(cluster[name]) for name in kinds))
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"{TF_CONFIG} does not name this worker ({type(error).__name__}: {error}): it must be JSON such as "
            f"{_EXAMPLE}, with a chief or workers only; unset it to use one machine"
        ) from None


def join_machines() -> Machine:
    """Connects to the other machines, which JAX must do before anything else. Returns this one.

    Waits until all are connected. On TensorFlow they connect when their devices are first used.
    """
    here = this_machine()
    if here.count > 1 and keras.backend.backend() == "jax":
        import jax

        if not jax.distributed.is_initialized():
            keras.distribution.initialize()
    return here


def check_same_step(step: int) -> None:
    """Raises ConfigError when the machines would resume from different steps: they read different folders.

    All machines must call it, inside `data_parallel`.
    """
    if this_machine().count == 1:
        return
    if keras.backend.backend() == "jax":
        from jax.experimental.multihost_utils import process_allgather

        steps = process_allgather(np.array([step])).ravel()
    else:
        import tensorflow as tf

        steps = tf.distribute.get_strategy().gather(tf.constant([step]), axis=0).numpy()
    if len(set(steps.tolist())) > 1:
        raise ConfigError(
            f"expected one step to resume from on all machines, got {', '.join(map(str, steps))}; all must see the "
            "same folder of the run"
        )


# === Devices ===


@contextmanager
def data_parallel(devices: int) -> Iterator[None]:
    """Models made and trained inside use `devices` devices of each machine.

    Without a GPU, TensorFlow divides the processor into that many virtual devices, only for trying things out; with
    JAX, XLA_FLAGS=--xla_force_host_platform_device_count=N does that. Raises ConfigError when there are fewer, and for
    several on a backend whose devices cannot share a batch here.
    """
    if devices == 1 and this_machine().count == 1:
        yield
        return
    scopes = {"tensorflow": _tensorflow_scope if this_machine().count == 1 else _machines_scope, "jax": _jax_scope}
    backend = keras.backend.backend()
    if backend not in scopes:
        raise ConfigError(f"expected TensorFlow or JAX for several devices, got {backend}; choose devices=1")
    with scopes[backend](devices):
        yield


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

    cards = tf.config.list_physical_devices("GPU")
    names = [f"{'GPU' if cards else 'CPU'}:{i}" for i in range(devices)]
    if cards:
        _check_number(devices, len(cards))
    else:
        host, parts = tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * devices
        try:
            tf.config.set_logical_device_configuration(host, parts)
        except RuntimeError:  # TensorFlow has started: its devices cannot be changed
            _check_number(devices, len(tf.config.list_logical_devices("CPU")))
    # The reduction that every machine has; with GPUs the strategy's own choice (NCCL) is the faster one.
    reduction = None if cards else tf.distribute.ReductionToOneDevice()
    with tf.distribute.MirroredStrategy(names, cross_device_ops=reduction).scope():
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


def _check_number(wanted: int, found: int) -> None:
    if wanted > found:
        raise ConfigError(f"expected at most {found} devices, got {wanted}; only {found} are visible here")


# === Batches ===


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


# === Inside a step ===


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
