"""Stands in for what notebook 04 builds."""

from bertlab.layers import Encoder, EncoderLayer, FeedForward, gelu
from bertlab.layers import LayerNormalization as LayerNorm

__all__ = ["Encoder", "EncoderLayer", "FeedForward", "LayerNorm", "gelu"]
