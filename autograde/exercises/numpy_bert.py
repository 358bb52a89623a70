"""BERT's parts in NumPy: float64, independent of the library, with other algorithms than the notebooks.

References of several notebooks use them. weights: arrays by role ("query/kernel", …); `below` selects the roles of
one part.
"""

import math

import numpy as np


def softmax(a):
    powers = np.exp(a - a.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def gelu(x):
    return np.asarray(x * (1 + np.vectorize(math.erf, otypes=["float64"])(x / math.sqrt(2))) / 2)


def layer_norm(x, gamma, beta, epsilon=1e-12):
    deviations = x - x.mean(axis=-1, keepdims=True)
    return deviations / np.sqrt(x.var(axis=-1, keepdims=True) + epsilon) * gamma + beta


def scores(q, k):
    return q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])


def masked_attention(q, k, v, mask):
    return softmax(np.where(mask, scores(q, k), -1e9)) @ v


def below(weights: dict, part: str) -> dict:
    """The weights of one part, by their roles in it."""
    return {role.removeprefix(f"{part}/"): array for role, array in weights.items() if role.startswith(f"{part}/")}


def dense(x, weights, name):
    return x @ weights[f"{name}/kernel"] + weights[f"{name}/bias"]


def norm(x, weights, name):
    return layer_norm(x, weights[f"{name}/gamma"], weights[f"{name}/beta"])


def multi_head_attention(x, attention_mask=None, training=None, *, weights, config):
    """A loop over slices of the shared matrices, unlike the reshape in the notebooks."""
    q, k, v = (dense(x, weights, name) for name in ("query", "key", "value"))
    mask = np.ones((1, 1, x.shape[1]), bool) if attention_mask is None else attention_mask
    slices = np.split(np.arange(x.shape[-1]), config["num_heads"])
    heads = [masked_attention(q[..., slice], k[..., slice], v[..., slice], mask) for slice in slices]
    return dense(np.concatenate(heads, axis=-1), weights, "out")


def feed_forward(x, training=None, *, weights, config=None):
    return dense(gelu(dense(x, weights, "inner")), weights, "outer")


def encoder_layer(x, attention_mask=None, training=None, *, weights, config):
    found = multi_head_attention(x, attention_mask, weights=below(weights, "attention"), config=config)
    middle = norm(x + found, weights, "attention_norm")
    return norm(middle + feed_forward(middle, weights=below(weights, "feed_forward")), weights, "output_norm")


def encoder(x, attention_mask=None, training=None, *, weights, config):
    """weights: those of all layers, each role's arrays side by side along the last axis."""
    layers = config["num_layers"]
    for index in range(layers):
        own = {role: np.split(array, layers, axis=-1)[index] for role, array in weights.items()}
        x = encoder_layer(x, attention_mask, weights=own, config=config)
    return x
