"""The library's version of the names that notebook 04 defines."""

from bertlab.layers import Encoder, EncoderLayer, FeedForward, activations
from bertlab.layers import LayerNormalization as LayerNorm

__all__ = ["Encoder", "EncoderLayer", "FeedForward", "LayerNorm", "PreNormEncoderLayer", "gelu"]


def gelu(x, kind="exact"):
    """x · Φ(x), exactly or approximately. kind: "exact", "sigmoid" or "tanh"."""
    cheap = {"sigmoid": activations.gelu_sigmoid, "tanh": activations.gelu_tanh}
    return cheap.get(kind, activations.gelu)(x)


class PreNormEncoderLayer(EncoderLayer):
    """An encoder layer with its LayerNorms before the sub-layers."""

    def __init__(self, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(num_heads, intermediate_size, dropout, pre_norm=True, **kwargs)
