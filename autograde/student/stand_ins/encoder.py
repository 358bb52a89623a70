"""The library's version of the names that notebook 04 defines."""

from bertlab.layers import Encoder, EncoderLayer, FeedForward, activations
from bertlab.layers import LayerNormalization as LayerNorm

__all__ = ["Encoder", "EncoderLayer", "FeedForward", "LayerNorm", "gelu"]


def gelu(x, kind="exact"):
    """x · Φ(x), exactly or approximately. kind: "exact", "sigmoid" or "tanh"."""
    cheap = {"sigmoid": activations.gelu_sigmoid, "tanh": activations.gelu_tanh}
    return cheap.get(kind, activations.gelu)(x)
