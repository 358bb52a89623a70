"""Factorised embeddings: narrow tables, then one projection (Lan et al. 2020, "ALBERT", section 3.1).

Letters: B batch, T tokens, E width of the tables, H hidden size, V vocabulary.
"""

import keras

from bertlab.layers.embeddings import BertEmbeddings


@keras.saving.register_keras_serializable("bertlab")
class FactorisedEmbeddings(BertEmbeddings):
    """Dropout(LayerNorm(token + segment + position)) W + b: V·E + E·H parameters instead of V·H.

    Args:
        vocab_size: V.   hidden_size: E, the width of the tables and of their LayerNorm.   output_size: H.
        The others as in `BertEmbeddings`.

    Parts: those of `BertEmbeddings`, and the Dense layer `projection`.

    Call: as `BertEmbeddings` → (B, T, H).

    Example:
        >>> embeddings = FactorisedEmbeddings(vocab_size=11, hidden_size=4, output_size=8)
        >>> tuple(embeddings(ops.array([[3, 1, 10]])).shape)
        (1, 3, 8)
    """

    def __init__(self, vocab_size: int, hidden_size: int, output_size: int, **kwargs):
        super().__init__(vocab_size, hidden_size, **kwargs)
        self.output_size = output_size
        self.projection = keras.layers.Dense(
            output_size,
            kernel_initializer=keras.initializers.TruncatedNormal(stddev=self.initializer_range),
            dtype=self.dtype_policy,
            name="projection",
        )

    def build(self, input_shape=None):
        super().build(input_shape)
        self.projection.build((None, None, self.hidden_size))

    def call(self, token_ids, token_type_ids=None, position_ids=None, training=False):
        x = super().call(token_ids, token_type_ids, position_ids, training=training)  # (B, T, E)
        return self.projection(x)
