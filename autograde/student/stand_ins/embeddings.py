"""Stands in for what notebook 02 builds."""

import keras
from keras import ops

from bertlab import layers

__all__ = ["BertEmbeddings", "sinusoids"]


class BertEmbeddings(keras.layers.Layer):
    """The notebook's layer, `BertEmbeddings(vocab_size, hidden_size, max_positions=512, num_segments=2, dropout=0.1)`.

    Sub-layers: token, position, segment (Keras embeddings), norm.
    call: token_ids, token_type_ids (batch, tokens); returns (batch, tokens, hidden)
    """

    def __init__(self, vocab_size, hidden_size, max_positions=512, num_segments=2, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        start = keras.initializers.TruncatedNormal(stddev=0.02)
        sizes = {"token": vocab_size, "position": max_positions, "segment": num_segments}
        for name, size in sizes.items():
            table = keras.layers.Embedding(size, hidden_size, embeddings_initializer=start.clone(), name=name)
            setattr(self, name, table)
        self.norm = keras.layers.LayerNormalization(epsilon=1e-12, name="norm")
        self.dropout = keras.layers.Dropout(dropout, name="dropout")

    def call(self, token_ids, token_type_ids, training=None):
        places = ops.arange(ops.shape(token_ids)[1])  # (T,)
        x = self.token(token_ids) + self.segment(token_type_ids) + self.position(places)  # (B, T, H)
        return self.dropout(self.norm(x), training=training)


def sinusoids(length: int, d_e: int):
    """The positions of Vaswani et al.: (length, d_e)."""
    return layers.sinusoids(length, d_e)
