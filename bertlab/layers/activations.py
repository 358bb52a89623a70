"""The activation functions of the feed-forward network.

GELU multiplies its input by the probability that a standard normal variable is below it, x·Φ(x) (Hendrycks and Gimpel
2016). BERT has been published with the exact form and with two cheaper ones; a checkpoint's config names its form, and
using another one changes the hidden states by about 1e-3.
"""

import math

import keras
from keras import ops

from bertlab.common.devices import on_jax_gpu
from bertlab.common.errors import ConfigError


def gelu(x):
    """Exact GELU, x·Φ(x), through the error function. x: any shape.

    On a GPU with JAX, in 16 bits, a shorter formula computes it: see `_gelu_in_16_bits`.

    Example:
        >>> round(float(gelu(ops.array(1.0))), 4)
        0.8413
    """
    in_16_bits = keras.backend.standardize_dtype(x.dtype) in ("float16", "bfloat16")
    if not (in_16_bits and on_jax_gpu()):
        return ops.gelu(x, approximate=False)
    return keras.remat(_gelu_in_16_bits)(x)  # else XLA may keep Φ(x) for the gradient, an array in float32


@ops.custom_gradient
def _gelu_in_16_bits(x):
    """Exact GELU of a float16 or bfloat16 x, computed in float32; keeps only x for the gradient.

    In 16 bits XLA's erf takes a GPU longer than to read x and write the result. Before it is rounded to 16 bits, the
    result differs from the exact one by less than 1e-6.
    """

    def gradient(*args, upstream=None):
        """d(x·Φ(x))/dx = Φ(x) + x·φ(x)."""
        dy = args[0] if upstream is None else upstream
        again, phi, density = normal_distribution(x)
        return ops.cast(ops.cast(dy, "float32") * (phi + again * density), x.dtype)

    x32, phi, _ = normal_distribution(x)
    return ops.cast(x32 * phi, x.dtype), gradient


def normal_distribution(x):
    """x in float32, and Φ(x) and φ(x), the standard normal distribution's cumulative probability and density.

    Source: Abramowitz and Stegun, "Handbook of Mathematical Functions", formula 7.1.26, with the same exponential for
    both. |error of Φ| ≤ 7.5e-8 before rounding.
    """
    x = ops.cast(x, "float32")
    z = ops.abs(x) * math.sqrt(0.5)
    t = 1.0 / (1.0 + 0.3275911 * z)
    bell = ops.exp(-z * z)
    polynomial = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    tail = 0.5 * polynomial * bell  # Φ(−|x|)
    return x, ops.where(x < 0, tail, 1.0 - tail), bell * (1.0 / math.sqrt(2.0 * math.pi))


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


_BY_NAME = {
    "gelu": gelu,
    "gelu_tanh": gelu_tanh,
    "gelu_sigmoid": gelu_sigmoid,
    "relu": ops.relu,  # max(0, x), the activation of the original Transformer (Vaswani et al. 2017, section 3.3)
    "silu": ops.silu,  # x·σ(x), also called swish (Ramachandran et al. 2017)
}


def get_activation(name: str):
    """The activation that a config calls `name`. Raises ConfigError for any other name.

    Example:
        >>> get_activation("gelu") is gelu
        True
    """
    if name not in _BY_NAME:
        raise ConfigError(f"unknown activation {name!r}; choose one of {', '.join(_BY_NAME)}")
    return _BY_NAME[name]
