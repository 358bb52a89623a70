"""The devices that compute or share a training step, for layers that depend on them."""

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


def on_jax_gpu() -> bool:
    """Whether the backend is JAX and its device a GPU."""
    if keras.backend.backend() != "jax":
        return False
    import jax

    return jax.devices()[0].platform == "gpu"


def computed_apart(x):
    """x itself. On JAX the compiler does not join what computes x with what reads it."""
    if keras.backend.backend() != "jax":
        return x
    import jax

    return jax.lax.optimization_barrier(x)


def has_fused_kernel() -> bool:
    """Whether this device should use `keras.ops.dot_product_attention`, rather than the formula written out.

    TensorFlow has no fused kernel. On JAX, cuDNN has one for GPUs from capability 8.0. Where it has none, that function
    keeps the scores in float32, which in 16 bits moves more bytes than the formula; on a TPU it takes the mask of the
    first row for all rows, or hides the future if there is no mask (Keras 3.15). Processors use that function.
    """
    if keras.backend.backend() != "jax":
        return keras.backend.backend() != "tensorflow"
    import jax

    device = jax.devices()[0]
    if device.platform != "gpu":
        return device.platform == "cpu"
    return tuple(int(part) for part in device.compute_capability.split(".")) >= (8, 0)
