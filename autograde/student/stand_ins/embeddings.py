"""Stands in for what notebook 02 builds."""

from keras import ops

from bertlab import layers
from bertlab.layers import BertEmbeddings

__all__ = ["BertEmbeddings", "sinusoids"]


def sinusoids(length: int, d_e: int):
    """(length, d_e): sines and cosines of the position."""
    return ops.convert_to_tensor(layers.sinusoids(length, d_e))
