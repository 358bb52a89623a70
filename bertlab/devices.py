"""The devices that share a training step, for layers that depend on them."""

import keras


def replica_number():
    """Which of the devices that share a step this is: 0, or on TensorFlow a scalar int32 tensor.

    TensorFlow runs a step once on each device, with equal copies of every seed. On JAX one program works on the rows of
    all devices and draws once for all of them: 0, as on PyTorch.
    """
    if keras.backend.backend() != "tensorflow":
        return 0
    import tensorflow as tf

    context = tf.distribute.get_replica_context()
    return context.replica_id_in_sync_group if context else 0
