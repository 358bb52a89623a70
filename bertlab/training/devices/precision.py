"""The floating-point type that a device computes in: float32 on processors, 16 bits on GPUs that support it.

Weights, moments, LayerNorms, softmax and losses stay in float32 (Micikevicius et al. 2018, "Mixed Precision Training").
The smallest float16 is 6·10⁻⁸, so gradients are scaled up, which Keras does when such a model is compiled; bfloat16
has the range of float32 and needs no scaling.
"""

import keras

from bertlab.common.errors import ConfigError

_LEAST_CAPABILITY = {"bfloat16": (8, 0), "float16": (7, 0)}  # NVIDIA's Ampere; Volta and Turing, such as Colab's T4


def policy_of(precision: str) -> str:
    """Keras's dtype policy for float32, float16 or bfloat16."""
    return precision if precision == "float32" else f"mixed_{precision}"


def resolve_precision(precision: str) -> str:
    """The type that "auto" means on this device; any other is returned unchanged.

    Raises ConfigError for float16 on a processor, which does not support it and would take many times as long.
    """
    accelerated, capability = _device()
    if precision == "float16" and not accelerated:
        raise ConfigError("float16 needs a GPU; on a processor choose float32 or bfloat16")
    if precision != "auto":
        return precision
    if not accelerated:
        return "float32"
    if capability is None:  # a TPU
        return "bfloat16"
    return next((name for name, least in _LEAST_CAPABILITY.items() if capability >= least), "float32")


def _device() -> tuple[bool, tuple[int, int] | None]:
    """Whether there is an accelerator, and its compute capability if it is NVIDIA's."""
    backend = keras.backend.backend()
    if backend == "jax":
        import jax

        device = jax.devices()[0]
        capability = getattr(device, "compute_capability", None)  # such as "7.5"
        return device.platform != "cpu", capability and tuple(int(part) for part in capability.split("."))
    if backend == "torch":
        import torch

        found = torch.cuda.is_available()
        return found, torch.cuda.get_device_capability() if found else None
    import tensorflow as tf

    cards = tf.config.list_physical_devices("GPU")
    details = tf.config.experimental.get_device_details(cards[0]) if cards else {}
    return bool(cards), details.get("compute_capability")
