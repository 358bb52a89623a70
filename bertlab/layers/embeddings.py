"""Token, segment and position embeddings, and their sum (Devlin et al. 2019, section 3 and figure 2).

Letters: B batch, T tokens, H hidden size, E width of narrower tables, V vocabulary, M longest sequence.
"""

import math

import keras
import numpy as np
from keras import ops

from bertlab.layers.base import Layer
from bertlab.layers.dropout import Dropout
from bertlab.layers.normalization import LayerNormalization


@keras.saving.register_keras_serializable("bertlab")
class TokenEmbedding(Layer):
    """One learned vector per token of the vocabulary; the table is also the MLM head's output matrix.

    Args:
        vocab_size: V.   hidden_size: H.   initializer_range: as in `BertConfig`.

    Part: the table `embeddings` (V, H).

    Call: token_ids (B, T) int → (B, T, H).

    Example:
        >>> table = TokenEmbedding(vocab_size=11, hidden_size=8)
        >>> tuple(table(ops.array([[3, 1, 10]])).shape)
        (1, 3, 8)
    """

    def __init__(self, vocab_size: int, hidden_size: int, initializer_range: float = 0.02, **kwargs):
        super().__init__(**kwargs)
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size
        self.initializer_range = initializer_range

    def build(self, input_shape=None):
        self.embeddings = self.add_weight(
            shape=(self.vocab_size, self.hidden_size),
            initializer=keras.initializers.TruncatedNormal(stddev=self.initializer_range),
            name="embeddings",  # as in `keras.layers.Embedding`
            autocast=False,  # in mixed precision: gather the few rows first, then cast only those
        )

    def call(self, token_ids):
        rows = ops.take(self.embeddings, ops.cast(token_ids, "int32"), axis=0)  # (B, T, H)
        return ops.cast(rows, self.compute_dtype)


@keras.saving.register_keras_serializable("bertlab")
class SegmentEmbedding(TokenEmbedding):
    """One learned vector for each segment, A and B.

    Looked up as a product with one-hot rows: for a table of two rows that is faster than gathering, and so is its
    gradient. Arguments as in `TokenEmbedding`; vocab_size is the number of segments.

    Call: token_type_ids (B, T) int → (B, T, H).

    Example:
        >>> tuple(SegmentEmbedding(2, hidden_size=8)(ops.array([[0, 0, 1]])).shape)
        (1, 3, 8)
    """

    def call(self, token_type_ids):
        one_hot = ops.one_hot(token_type_ids, self.vocab_size, dtype=self.compute_dtype)  # (B, T, segments)
        return ops.matmul(one_hot, ops.cast(self.embeddings, self.compute_dtype))


def sinusoids(num_positions: int, hidden_size: int, halves: bool = False) -> np.ndarray:
    """PE(p, 2i) = sin(p / 10000^(2i/H)), PE(p, 2i+1) = cos(the same), p from 0 (Vaswani et al. 2017, section 3.5).

    halves: all sines first and then all cosines, as many programs lay them; only the order of the dimensions differs.
    Returns (num_positions, hidden_size) float32.

    Example:
        >>> sinusoids(2, 4)[0].tolist()
        [0.0, 1.0, 0.0, 1.0]
    """
    positions = np.arange(num_positions)[:, None]  # (M, 1)
    angles = positions / 10000.0 ** (np.arange(0, hidden_size, 2) / hidden_size)  # (M, H/2)
    pairs = np.stack([np.sin(angles), np.cos(angles)], axis=1 if halves else -1)
    return pairs.reshape(num_positions, hidden_size).astype("float32")


@keras.saving.register_keras_serializable("bertlab")
class SinusoidalPositionEmbedding(Layer):
    """Fixed sines and cosines of the position, without trained weights.

    Args:
        num_positions: M, the longest sequence.   hidden_size: H, even.   halves: as in `sinusoids`.

    Call: position_ids (B, T) int → (B, T, H).

    Example:
        >>> tuple(SinusoidalPositionEmbedding(512, hidden_size=8)(ops.array([[0, 1, 2]])).shape)
        (1, 3, 8)
    """

    def __init__(self, num_positions: int, hidden_size: int, halves: bool = False, **kwargs):
        super().__init__(**kwargs)
        self.num_positions = num_positions
        self.hidden_size = hidden_size
        self.halves = halves

    def build(self, input_shape=None):
        self.table = sinusoids(self.num_positions, self.hidden_size, self.halves)

    def call(self, position_ids):
        table = ops.convert_to_tensor(self.table, dtype=self.compute_dtype)
        return ops.take(table, ops.cast(position_ids, "int32"), axis=0)


@keras.saving.register_keras_serializable("bertlab")
class BertEmbeddings(Layer):
    """Dropout(LayerNorm(token + segment + position)).

    Args:
        vocab_size: V.   hidden_size: H.   max_positions: M.   num_segments: number of segments; 0: none at all.
        position_embedding: learned | sinusoidal | none.   halves: the order of sines and cosines, as in `sinusoids`.
        positions_after: the id of padding from which positions are counted, as in RoBERTa: the first token has position
            id + 1, padding has position id; given position_ids are counted from 0 here too. None: from 0, padding too.
        scaled: whether a token's vector is multiplied by √H, as in the Transformer of 2017 (section 3.4).
        dropout: fraction of the sum set to zero in training.   layer_norm_eps, initializer_range: as in `BertConfig`.
        norm: whether there is a LayerNorm.   norm_bias: whether it has a bias.
        tables: another such layer, whose tables and LayerNorm this one uses too instead of its own; they must have the
            same sizes. The layer then has no configuration.

    Parts: `token`, `segment`, `position`, `norm`.

    Call: token_ids (B, T) int; token_type_ids (B, T) int, default 0; position_ids (B, T) int, default 0 … T − 1
    → (B, T, H).

    Example:
        >>> embeddings = BertEmbeddings(vocab_size=11, hidden_size=8)
        >>> tuple(embeddings(ops.array([[3, 1, 10]]), token_type_ids=ops.array([[0, 0, 1]])).shape)
        (1, 3, 8)
    """

    def __init__(
        self,
        vocab_size: int,
        hidden_size: int,
        max_positions: int = 512,
        num_segments: int = 2,
        dropout: float = 0.1,
        position_embedding: str = "learned",
        halves: bool = False,
        positions_after: int | None = None,
        scaled: bool = False,
        norm: bool = True,
        norm_bias: bool = True,
        layer_norm_eps: float = 1e-12,
        initializer_range: float = 0.02,
        tables: "BertEmbeddings | None" = None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.hidden_size = hidden_size
        self.num_segments = num_segments
        self.positions_after = positions_after
        self.scaled = scaled
        self.initializer_range = initializer_range
        dtype = self.dtype_policy
        if tables is not None:
            self.token, self.segment, self.position = tables.token, tables.segment, tables.position
            self.norm = tables.norm
        else:
            options = dict(initializer_range=initializer_range, dtype=dtype)
            self.token = TokenEmbedding(vocab_size, hidden_size, name="token", **options)
            self.segment = self.position = self.norm = None
            if num_segments:
                self.segment = SegmentEmbedding(num_segments, hidden_size, name="segment", **options)
            if position_embedding == "learned":
                self.position = TokenEmbedding(max_positions, hidden_size, name="position", **options)
            elif position_embedding == "sinusoidal":
                sines = (max_positions, hidden_size, halves)
                self.position = SinusoidalPositionEmbedding(*sines, dtype=dtype, name="position")
            if norm:
                self.norm = LayerNormalization(layer_norm_eps, norm_bias, dtype=dtype, name="norm")
        self.sum_dropout = Dropout(dropout, dtype=dtype, name="dropout")

    def build(self, input_shape=None):
        for table in (self.token, self.segment, self.position):
            if table is not None and not table.built:
                table.build((None, None))
        if self.norm is not None and not self.norm.built:
            self.norm.build((None, None, self.hidden_size))

    def call(self, token_ids, token_type_ids=None, position_ids=None, training=False):
        x = self.token(token_ids)  # (B, T, H)
        if self.scaled:
            x = x * math.sqrt(self.hidden_size)
        if self.segment is not None:
            only_one = token_type_ids is None or self.num_segments == 1
            x = x + self.segment(ops.zeros_like(token_ids) if only_one else token_type_ids)
        if self.position is not None:
            if self.positions_after is None:
                position_ids = ops.arange(ops.shape(token_ids)[1])[None] if position_ids is None else position_ids
            elif position_ids is None:
                is_real = ops.cast(token_ids != self.positions_after, "int32")
                position_ids = ops.cumsum(is_real, axis=1) * is_real + self.positions_after  # (B, T)
            else:  # the table's rows for tokens begin later
                position_ids = position_ids + (self.positions_after + 1)
            x = x + self.position(position_ids)
        return self.sum_dropout(x if self.norm is None else self.norm(x), training=training)


@keras.saving.register_keras_serializable("bertlab")
class FactorisedEmbeddings(BertEmbeddings):
    """Dropout(LayerNorm(token + segment + position)) W + b: V·E + E·H parameters instead of V·H (Lan et al. 2020,
    "ALBERT", section 3.1).

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
        initializer = keras.initializers.TruncatedNormal(stddev=self.initializer_range)
        options = dict(kernel_initializer=initializer, dtype=self.dtype_policy, name="projection")
        self.projection = keras.layers.Dense(output_size, **options)

    def build(self, input_shape=None):
        super().build(input_shape)
        self.projection.build((None, None, self.hidden_size))

    def call(self, token_ids, token_type_ids=None, position_ids=None, training=False):
        x = super().call(token_ids, token_type_ids, position_ids, training=training)  # (B, T, E)
        return self.projection(x)
