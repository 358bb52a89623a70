"""The library's version of the names that notebook 02 defines."""

from keras import ops

from bertlab import layers
from bertlab.layers import BertEmbeddings

__all__ = ["BertEmbeddings", "sinusoids"]


def sinusoids(length: int, d_e: int):
    """(length, d_e): sines and cosines of the position."""
    return ops.convert_to_tensor(layers.sinusoids(length, d_e))
