"""Several machines, one run: which one this process is, read from the variables that cluster managers set.

TensorFlow reads TF_CONFIG, JSON such as

    {"cluster": {"worker": ["10.0.0.1:2222", "10.0.0.2:2222"]}, "task": {"type": "worker", "index": 0}}

and Keras on JAX reads KERAS_DISTRIBUTION_JOB_ADDRESSES (the first machine's), …_NUM_PROCESSES and …_PROCESS_ID. The
first machine is the chief: it alone writes the run's folder. The others read the states there, so all must see it.
"""

import json
import os
from dataclasses import dataclass

import keras
import numpy as np

from bertlab.common.errors import ConfigError

TF_CONFIG = "TF_CONFIG"
NUM_PROCESSES, PROCESS_ID = "KERAS_DISTRIBUTION_NUM_PROCESSES", "KERAS_DISTRIBUTION_PROCESS_ID"
_EXAMPLE = '{"cluster": {"worker": ["10.0.0.1:2222", "10.0.0.2:2222"]}, "task": {"type": "worker", "index": 0}}'


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
    kinds = {"tensorflow": _by_tf_config, "jax": _by_keras_variables}
    return kinds.get(keras.backend.backend(), Machine)()


def _by_tf_config() -> Machine:
    text = os.environ.get(TF_CONFIG)
    if not text:
        return Machine()
    try:
        config = json.loads(text)
        cluster, kind, index = config["cluster"], config["task"]["type"], int(config["task"]["index"])
        kinds = [name for name in ("chief", "worker") if name in cluster]
        before = {name: sum(len(cluster[earlier]) for earlier in kinds[:i]) for i, name in enumerate(kinds)}
        found = Machine(before[kind] + index, sum(len(cluster[name]) for name in kinds))
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"{TF_CONFIG} does not name this worker ({type(error).__name__}: {error}): it must be JSON such as "
            f"{_EXAMPLE}, with a chief or workers only; unset it to use one machine"
        ) from None
    return _checked(found, TF_CONFIG)


def _by_keras_variables() -> Machine:
    texts = os.environ.get(PROCESS_ID, "0"), os.environ.get(NUM_PROCESSES, "1")
    try:
        found = Machine(*map(int, texts))
    except ValueError:
        raise ConfigError(f"{PROCESS_ID} and {NUM_PROCESSES} must be whole numbers, not {texts}") from None
    return _checked(found, f"{PROCESS_ID} and {NUM_PROCESSES}")


def _checked(found: Machine, source: str) -> Machine:
    if not 0 <= found.number < found.count:
        raise ConfigError(f"{source}: there is no machine {found.number} among {found.count}; they count from 0")
    return found


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


def gathered(number: int) -> list[int]:
    """The number that each machine passes, in order. All must call it, inside `data_parallel`."""
    if this_machine().count == 1:
        return [number]
    if keras.backend.backend() == "jax":
        from jax.experimental.multihost_utils import process_allgather

        return process_allgather(np.array([number])).ravel().tolist()
    import tensorflow as tf

    return tf.distribute.get_strategy().gather(tf.constant([number]), axis=0).numpy().tolist()


def check_same_step(step: int) -> None:
    """Raises ConfigError when the machines would resume from different steps: they read different folders."""
    steps = gathered(step)
    if len(set(steps)) > 1:
        raise ConfigError(
            f"expected one step to resume from on all machines, got {', '.join(map(str, steps))}; all must see the "
            "same folder of the run"
        )
