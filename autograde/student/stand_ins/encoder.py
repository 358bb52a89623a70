"""The library's version of the names that notebook 04 defines."""

from bertlab.layers import Encoder, EncoderLayer, FeedForward, gelu
from bertlab.layers import LayerNormalization as LayerNorm

__all__ = ["Encoder", "EncoderLayer", "FeedForward", "LayerNorm", "gelu"]
