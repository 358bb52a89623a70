"""The embeddings of the Transformer of 2017: the token's vector times √d, plus the position (Vaswani et al. 2017).

Letters: B batch, T tokens, H hidden size, V vocabulary, M longest sequence.
"""

import math

import keras
from keras import ops

from bertlab.layers.dropout import Dropout
from bertlab.layers.embeddings import SinusoidalPositionEmbedding, TokenEmbedding


@keras.saving.register_keras_serializable("bertlab")
class ScaledEmbeddings(keras.layers.Layer):
    """Dropout(√H · token + position), with fixed sines and cosines as positions (sections 3.4 and 3.5).

    The table is drawn with standard deviation 1 / √H, as in tensor2tensor, so that a scaled vector is about as large as
    the sines. Encoder and decoder share one such layer or have one each; the decoder's table is the output matrix too.

    Args:
        vocab_size: V.   hidden_size: H.   max_positions: M.
        dropout: fraction of the sum set to zero in training.
        halves: the order of sines and cosines, see `sinusoids`.

    Parts: `token`, `position`.

    Call: token_ids (B, T) int; position_ids (B, T) int, default 0 … T − 1 → (B, T, H). token_type_ids are not read.

    Example:
        >>> tuple(ScaledEmbeddings(vocab_size=11, hidden_size=8)(ops.array([[3, 1, 10]])).shape)
        (1, 3, 8)
    """

    def __init__(
        self,
        vocab_size: int,
        hidden_size: int,
        max_positions: int = 512,
        dropout: float = 0.1,
        halves: bool = False,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size
        self.max_positions = max_positions
        self.dropout = dropout
        self.halves = halves
        options = dict(dtype=self.dtype_policy)
        self.token = TokenEmbedding(vocab_size, hidden_size, hidden_size**-0.5, name="token", **options)
        self.position = SinusoidalPositionEmbedding(max_positions, hidden_size, halves, name="position", **options)
        self.sum_dropout = Dropout(dropout, name="dropout", **options)

    def build(self, input_shape=None):
        for part in (self.token, self.position):
            part.build((None, None))
        self.sum_dropout.build((None, None, self.hidden_size))

    def call(self, token_ids, token_type_ids=None, position_ids=None, training=False):
        if position_ids is None:
            position_ids = ops.arange(ops.shape(token_ids)[1])[None]  # (1, T)
        x = self.token(token_ids) * math.sqrt(self.hidden_size) + self.position(position_ids)  # (B, T, H)
        return self.sum_dropout(x, training=training)

    def compute_output_shape(self, input_shape, *others):
        return (*input_shape, self.hidden_size)

    def get_config(self):
        names = ("vocab_size", "hidden_size", "max_positions", "dropout", "halves")
        return super().get_config() | {name: getattr(self, name) for name in names}
