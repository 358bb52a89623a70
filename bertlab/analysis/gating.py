"""Heads with a gate: what is a head worth? (Michel et al. 2019, "Are Sixteen Heads Really Better than One?".)

A head's output is multiplied by a number ξ: 1 keeps it, 0 removes it (their section 2.2). The output projection W_o
adds up the heads, each through rows of its own, so that multiplying these rows is the same.

Letters: L layers with weights of their own, A heads, d head size, H hidden size.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from bertlab.common.errors import DataError
from bertlab.families import check_attends


@contextmanager
def gated_heads(encoder, gates: np.ndarray) -> Iterator[None]:
    """Inside the `with`, every head's output is multiplied by its gate; afterwards the model is as before.

    encoder: a `Backbone`.   gates: (L, A); in a model whose layers share weights L counts the layers that it has.
    Raises DataError for gates of another shape, ConfigError for a model without attention.

    Example:
        gates = all_open(model.backbone)
        gates[0, 1] = 0  # without the second head of the first layer
        with gated_heads(model.backbone, gates):
            ...
    """
    layers, gates = encoder.encoder.layers_, np.asarray(gates, "float32")
    expected = all_open(encoder).shape
    if gates.shape != expected:
        raise DataError(f"expected gates of shape {expected}, one for each layer and head, got {gates.shape}")
    kernels = [np.array(layer.attention.out.kernel) for layer in layers]
    try:
        for layer, kernel, row in zip(layers, kernels, gates, strict=True):
            rows_each = 1 if kernel.ndim == 3 else len(kernel) // len(row)  # W_o is (H, A, d) or (A · d, H)
            layer.attention.out.kernel.assign(kernel * np.repeat(row, rows_each)[:, None].astype(kernel.dtype))
        yield
    finally:
        for layer, kernel in zip(layers, kernels, strict=True):
            layer.attention.out.kernel.assign(kernel)


def all_open(encoder) -> np.ndarray:
    """Gates that change nothing: ones, (L, A) float32. Raises ConfigError for a model without attention."""
    check_attends(encoder.config)
    layers = encoder.encoder.layers_
    return np.ones((len(layers), layers[0].attention.num_heads), "float32")


def without_each_head(encoder, score: Callable[[], float]) -> np.ndarray:
    """The score with one head removed at a time, (L, A) float64 (Michel et al. 2019, section 3.2).

    score: called without arguments; evaluates the model that contains `encoder`.
    """
    return _for_each_head(encoder, score, others=1, own=0)


def with_one_head(encoder, score: Callable[[], float]) -> np.ndarray:
    """The score with only one head left in its layer, all other layers whole, (L, A) float64 (section 3.3)."""
    return _for_each_head(encoder, score, others=0, own=1)


def _for_each_head(encoder, score: Callable[[], float], others: float, own: float) -> np.ndarray:
    """The score by head, with a gate of its own and another for the other heads of its layer."""
    scores = np.zeros(all_open(encoder).shape)
    for layer, head in np.ndindex(*scores.shape):
        gates = all_open(encoder)
        gates[layer] = others
        gates[layer, head] = own
        with gated_heads(encoder, gates):
            scores[layer, head] = score()
    return scores
