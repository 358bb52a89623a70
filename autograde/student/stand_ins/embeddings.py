"""Stands in for what notebook 02 builds."""

from keras import ops

from bertlab import layers

__all__ = ["BertEmbeddings", "sinusoids"]


class BertEmbeddings(layers.BertEmbeddings):
    """The notebook's layer: token, segment and position (each with its table `embeddings`), norm, then dropout.

    call: token_ids (batch, tokens); token_type_ids (batch, tokens)
    returns (batch, tokens, hidden)
    """

    def __init__(self, vocab_size, hidden_size, max_positions=512, num_segments=2, dropout=0.1, **kwargs):
        super().__init__(vocab_size, hidden_size, max_positions, num_segments, dropout=dropout, **kwargs)

    def call(self, token_ids, token_type_ids, training=None):
        return super().call(token_ids, token_type_ids, training=bool(training))


def sinusoids(length: int, d_e: int):
    """(length, d_e): sines and cosines of the position."""
    return ops.convert_to_tensor(layers.sinusoids(length, d_e))
