"""The activation functions of the feed-forward network.

GELU multiplies its input by the probability that a standard normal variable is below it, x·Φ(x) (Hendrycks and Gimpel
2016). BERT has been published with the exact form and with two cheaper ones; a checkpoint's config names its form, and
using another one changes the hidden states by about 1e-3.
"""

import keras
from keras import ops

from bertlab.devices import on_jax_gpu
from bertlab.errors import ConfigError


def gelu(x):
    """Exact GELU, x·Φ(x), through the error function. x: any shape.

    On a GPU with JAX, in 16 bits, the backward pass computes it again: otherwise XLA keeps a float32 array for it.

    Example:
        >>> round(float(gelu(ops.array(1.0))), 4)
        0.8413
    """
    in_16_bits = keras.backend.standardize_dtype(x.dtype) in ("float16", "bfloat16")
    return keras.remat(_exact_gelu)(x) if in_16_bits and on_jax_gpu() else _exact_gelu(x)


def _exact_gelu(x):
    return ops.gelu(x, approximate=False)


def gelu_tanh(x):
    """GELU by 0.5·x·(1 + tanh(√(2/π)·(x + 0.044715·x³))): within 5e-4 of the exact form. x: any shape.

    Example:
        >>> round(float(gelu_tanh(ops.array(1.0))), 4)
        0.8412
    """
    return ops.gelu(x, approximate=True)


def gelu_sigmoid(x):
    """GELU by x·σ(1.702·x): within 2.1e-2 of the exact form. x: any shape.

    Example:
        >>> round(float(gelu_sigmoid(ops.array(1.0))), 4)
        0.8458
    """
    return x * ops.sigmoid(1.702 * x)


def relu(x):
    """max(0, x), the activation of the original Transformer (Vaswani et al. 2017, section 3.3). x: any shape.

    Example:
        >>> float(relu(ops.array(-1.0)))
        0.0
    """
    return ops.relu(x)


def silu(x):
    """x·σ(x), also called swish (Ramachandran et al. 2017); some models of BERT's architecture use it. x: any shape.

    Example:
        >>> round(float(silu(ops.array(1.0))), 4)
        0.7311
    """
    return ops.silu(x)


_BY_NAME = {"gelu": gelu, "gelu_tanh": gelu_tanh, "gelu_sigmoid": gelu_sigmoid, "relu": relu, "silu": silu}


def get_activation(name: str):
    """The activation that a config calls `name`. Raises ConfigError for any other name.

    Example:
        >>> get_activation("relu") is relu
        True
    """
    if name not in _BY_NAME:
        raise ConfigError(f"unknown activation {name!r}; choose one of {', '.join(_BY_NAME)}")
    return _BY_NAME[name]
