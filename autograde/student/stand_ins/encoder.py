"""The library's version of the names that notebook 04 defines."""

from bertlab.layers import Encoder, EncoderLayer, FeedForward, gelu
from bertlab.layers import LayerNormalization as LayerNorm

__all__ = ["Encoder", "EncoderLayer", "FeedForward", "LayerNorm", "PreNormEncoderLayer", "gelu"]


class PreNormEncoderLayer(EncoderLayer):
    """An encoder layer with its LayerNorms before the sub-layers."""

    def __init__(self, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(num_heads, intermediate_size, dropout, pre_norm=True, **kwargs)
