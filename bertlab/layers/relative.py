"""Attention by relative positions and segments, and an encoder of two streams (Yang et al. 2019, "XLNet").

A token has no position of its own. The score of a query for a key adds three products: with the key's content, with a
vector for their distance (Dai et al. 2019, "Transformer-XL", section 3.3), and with one of two vectors: the key is in
the query's segment, or in another (XLNet, section 2.5).

The *content stream* h has a vector for each token and sees the token itself. The *query stream* g has one for each
predicted token; it knows the token's position but not the token, and sees only tokens before it in the order of
prediction (section 2.3). Both go through the same layers; keys and values always come from h, and are computed once for
both.

The *memory* is what each layer read in earlier rows (Transformer-XL, section 3.2): M more tokens that all others see.

Letters: B batch, T query tokens, M tokens of the memory, S = M + T key tokens, P predicted tokens, A heads, d head
size, H hidden size, R = S + T distances, from S down to 1 − T.
"""

import math

import keras
import numpy as np
from keras import ops

from bertlab.common.errors import ConfigError
from bertlab.layers.attention import MASKED_SCORE, size_of_heads
from bertlab.layers.base import Layer
from bertlab.layers.dropout import Dropout
from bertlab.layers.encoder import Encoder, EncoderLayer
from bertlab.layers.gathering import gather_positions
from bertlab.layers.masks import combine, order_mask, rows_at, with_heads


def distance_vectors(num_tokens, hidden_size: int):
    """sin and cos of every distance query − key, from S down to 1 − S, in two halves: (2·S, H) float32.

    Example:
        >>> ops.convert_to_numpy(distance_vectors(1, 2))[1].tolist()
        [0.0, 1.0]
    """
    powers = 10000 ** (np.arange(0, hidden_size, 2) / hidden_size)  # (H/2,); in float64, rounded once
    frequencies = 1 / powers.astype("float32")
    distances = ops.cast(num_tokens - ops.arange(2 * num_tokens), "float32")  # (R,)
    angles = distances[:, None] * ops.convert_to_tensor(frequencies, "float32")
    return ops.concatenate([ops.sin(angles), ops.cos(angles)], axis=-1)


def by_key(scores):
    """Scores of every distance → of every key. (B, A, T, R) → (B, A, T, S).

    Query i of the row finds key j at distance M + i − j, in column T − i + j. Each row therefore begins one column
    further left than the row above: read as rows of R − 1 after the first T numbers, the columns are one below another.
    """
    batch, heads, tokens, distances = ops.shape(scores)
    flat = ops.reshape(scores, (batch, heads, distances, tokens))[:, :, 1:]  # without the first T numbers
    return ops.reshape(flat, (batch, heads, tokens, distances - 1))[..., : distances - tokens]


def by_key_at(scores, positions, keys):
    """The same for the queries at some positions among S keys. (B, A, P, R), (B, P) int → (B, A, P, S)."""
    columns = keys - ops.cast(positions, "int32")[:, None, :, None] + ops.arange(keys, dtype="int32")  # (B, 1, P, S)
    columns = ops.broadcast_to(columns, (*ops.shape(scores)[:3], keys))
    return ops.take_along_axis(scores, columns, axis=-1)


def next_memory(hidden_states, memory=None, length: int | None = None, reused: int | None = None):
    """The memory for the rows that follow: what each layer read, (L, B, M, H), without gradient.

    hidden_states: of `return_all`, L + 1 tensors (B, T, H).   memory: the one that these rows were read with.
    length: the most tokens to keep, the last ones (`mem_len` in transformers); None: all of them.
    reused: how many tokens of a row, from its first one, are kept (`reuse_len`); None: all of them.

    Example:
        >>> states = [ops.ones((2, 5, 8)), ops.ones((2, 5, 8))]
        >>> tuple(next_memory(states, next_memory(states, reused=4), length=6).shape)
        (1, 2, 6, 8)
    """
    read = ops.stop_gradient(ops.stack(hidden_states[:-1])[:, :, :reused])  # no layer reads the last layer's output
    if memory is not None:
        read = ops.concatenate([memory, ops.cast(read, memory.dtype)], axis=2)
    return read if length is None else read[:, :, max(0, read.shape[2] - length) :]


@keras.saving.register_keras_serializable("bertlab")
class RelativeAttention(Layer):
    """Multi-head attention whose scores are ((q + u)·k + (q + v)·r + (q + w)·s) / √d.

    k is the key's content, r a projected vector of the distance between query and key, s one of two vectors: same
    segment or another one. u, v and w are learned and the same for all queries.

    Args:
        num_heads, dropout, initializer_range: as in `MultiHeadAttention`.

    Parts: `query`, `key`, `value`, `position`, `out`, EinsumDense layers without bias and with kernels (H, A, d);
    `content_bias` u, `position_bias` v, `segment_bias` w (A, d); `segment` s (2, A, d).

    Call: x (B, T, H); distances (R, H), see `distance_vectors`; attention_mask, bool, broadcasting to (B, A, T, S);
    other_segment, bool (B, T, S); source: what `read` returned for other tokens (default: x is read); positions (B, T)
    int of the queries among the S tokens (default: the last T). Returns (B, T, H), or with `return_weights=True` that
    and the weights (B, A, T, S) before dropout.

    Example:
        >>> x = keras.random.normal((2, 5, 8))
        >>> tuple(RelativeAttention(num_heads=2)(x, distance_vectors(5, 8)).shape)
        (2, 5, 8)
    """

    def __init__(self, num_heads: int, dropout: float = 0.0, initializer_range: float = 0.02, **kwargs):
        super().__init__(**kwargs)
        self.num_heads = num_heads
        self.dropout = dropout
        self.initializer_range = initializer_range

    def build(self, x_shape):
        hidden_size = x_shape[-1]
        head = (self.num_heads, size_of_heads(hidden_size, self.num_heads))
        self.query, self.key, self.value = (
            self._dense(name, "bth,had->btad", (None, *head), (None, None, hidden_size))
            for name in ("query", "key", "value")
        )
        self.position = self._dense("position", "rh,had->rad", head, (None, hidden_size))
        self.out = self._dense("out", "btad,had->bth", (None, hidden_size), (None, None, *head))
        self.content_bias, self.position_bias, self.segment_bias = (
            self._vectors(name, head) for name in ("content_bias", "position_bias", "segment_bias")
        )
        self.segment = self._vectors("segment", (2, *head))
        self.weight_dropout = Dropout(self.dropout, dtype="float32", name="weight_dropout")

    def _initializer(self):
        return keras.initializers.TruncatedNormal(stddev=self.initializer_range)

    def _dense(self, name, equation, output_shape, input_shape):
        initializer, dtype = self._initializer(), self.dtype_policy
        layer = keras.layers.EinsumDense(equation, output_shape, kernel_initializer=initializer, dtype=dtype, name=name)
        layer.build(input_shape)
        return layer

    def _vectors(self, name, shape):
        return self.add_weight(shape=shape, initializer=self._initializer(), name=name)

    def read(self, x, distances):
        """Keys and values (B, S, A, d) of x (B, S, H), and the projected distances (R, A, d), for any query."""
        return self.key(x), self.value(x), self.position(distances)

    def call(
        self,
        x,
        distances,
        attention_mask=None,
        other_segment=None,
        source=None,
        positions=None,
        training=False,
        return_weights=False,
    ):
        key, value, distance_keys = self.read(x, distances) if source is None else source
        query = self.query(x)  # (B, T, A, d)
        scores = ops.cast(self._scores(query, key, distance_keys, other_segment, positions), "float32")  # (B, A, T, S)
        if attention_mask is not None:
            scores = ops.where(with_heads(attention_mask), scores, MASKED_SCORE)
        weights = ops.softmax(scores, axis=-1)
        dropped = ops.cast(self.weight_dropout(weights, training=training), value.dtype)
        y = self.out(ops.einsum("bats,bsad->btad", dropped, value))  # (B, T, H)
        return (y, weights) if return_weights else y

    def _scores(self, query, key, distance_keys, other_segment, positions):
        scale = 1 / math.sqrt(query.shape[-1])
        content = ops.einsum("btad,bsad->bats", (query + self.content_bias) * scale, key)
        by_distance = ops.einsum("btad,rad->batr", (query + self.position_bias) * scale, distance_keys)
        scores = content + (
            by_key(by_distance) if positions is None else by_key_at(by_distance, positions, ops.shape(key)[1])
        )
        if other_segment is None:  # all in one: every key of a query has the same term, which a softmax ignores
            return scores
        segment = ops.einsum("btad,cad->cbat", (query + self.segment_bias) * scale, self.segment)[..., None]
        return scores + ops.where(other_segment[:, None], segment[1], segment[0])  # each (B, A, T, 1)

    def flops(self, queries: int, keys: int, reads: bool = True) -> int:
        """Operations of the products for one row. The distances are projected once for all rows and not counted.

        reads: whether keys and values are computed here; otherwise they are another stream's.
        """
        kernel = math.prod(self.query.kernel.shape)
        hidden_size = self.query.kernel.shape[0]
        read = 4 * keys * kernel if reads else 0
        return 4 * queries * kernel + read + 2 * queries * hidden_size * (keys + 2 * keys + keys)


@keras.saving.register_keras_serializable("bertlab")
class RelativeEncoderLayer(EncoderLayer):
    """`EncoderLayer` in post-LN with relative attention, and dropout inside the feed-forward network too.

    Arguments and parts as in `EncoderLayer`.

    Call: as `RelativeAttention`: x (B, T, H) and distances (R, H) → (B, T, H). For the query stream x are its vectors
    (B, P, H), source what `attention.read` returned for the content stream, and positions (B, P) their positions.

    Example:
        >>> layer = RelativeEncoderLayer(num_heads=2, intermediate_size=32)
        >>> tuple(layer(keras.random.normal((2, 5, 8)), distance_vectors(5, 8)).shape)
        (2, 5, 8)
    """

    attention_class = RelativeAttention

    def __init__(self, num_heads: int, intermediate_size: int, dropout: float = 0.1, **kwargs):
        super().__init__(num_heads, intermediate_size, dropout, **kwargs)
        if self.pre_norm:
            raise ConfigError("an encoder with relative attention has no pre-LN form: leave out pre_norm")
        self.inner_drop = Dropout(dropout, dtype=self.dtype_policy, name="inner_dropout")

    def call(self, x, distances, training=False, return_weights=False, **options):
        attended = self.attention(x, distances, training=training, return_weights=return_weights, **options)
        attended, *weights = attended if return_weights else (attended,)
        x = self.attention_norm(x + self.attention_drop(attended, training=training))  # (B, T, H)
        inner = self.inner_drop(self.feed_forward.inner(x), training=training)  # (B, T, F)
        transformed = self.feed_forward_drop(self.feed_forward.outer(inner), training=training)
        x = self.output_norm(x + transformed)
        return (x, *weights) if return_weights else x

    def flops(self, tokens: int, queries: int, reads: bool = True) -> int:
        """Operations of the products for one row; reads: as in `RelativeAttention.flops`."""
        return self.attention.flops(queries, tokens, reads) + self.feed_forward.flops(queries)


@keras.saving.register_keras_serializable("bertlab")
class TwoStreamEncoder(Encoder):
    """L layers of relative attention; where positions are given, also the stream that predicts the tokens there.

    Arguments as in `Encoder`.

    Parts: the list `layers_`; `prediction` (1, 1, H), with which the query stream begins at every position.

    Call: as `Encoder`, and token_type_ids (B, T) int, which are only compared with one another; every token sees
    itself, padding too. With positions (B, P) it returns the query stream there, (B, P, H): the tokens there are
    predicted and not seen. order_ids (B, T) int are the order of prediction: 0 for tokens that all others see,
    1, 2, 3 … for those that are predicted one after the other; default: 1 at the positions, each without the others.
    memory (L, B, M, H), see `next_memory`: tokens before these, of segment 0, that every token sees.

    Example:
        >>> encoder = TwoStreamEncoder(num_layers=2, num_heads=2, intermediate_size=32)
        >>> x = keras.random.normal((2, 5, 8))
        >>> tuple(encoder(x).shape), tuple(encoder(x, positions=ops.array([[3], [0]])).shape)
        ((2, 5, 8), (2, 1, 8))
    """

    reads = ("token_type_ids", "order_ids")
    takes_memory = True
    layer_class = RelativeEncoderLayer

    def __init__(self, num_layers: int, num_heads: int, intermediate_size: int, dropout: float = 0.1, **kwargs):
        super().__init__(num_layers, num_heads, intermediate_size, dropout, **kwargs)
        self.distance_drop = Dropout(dropout, dtype=self.dtype_policy, name="distance_dropout")
        self.query_drop = Dropout(dropout, dtype=self.dtype_policy, name="query_dropout")
        self.last_drop = Dropout(dropout, dtype=self.dtype_policy, name="last_dropout")

    def build(self, input_shape):
        super().build(input_shape)
        hidden_size = input_shape[-1]
        initializer = keras.initializers.TruncatedNormal(stddev=self.layers_[0].initializer_range)
        self.prediction = self.add_weight(shape=(1, 1, hidden_size), initializer=initializer, name="prediction")

    def call(
        self,
        x,
        attention_mask=None,
        training=False,
        return_all=False,
        positions=None,
        token_type_ids=None,
        order_ids=None,
        memory=None,
        depth=None,
    ):
        tokens, hidden_size = ops.shape(x)[1], x.shape[-1]
        remembered = 0 if memory is None else ops.shape(memory)[2]  # M
        distances = distance_vectors(remembered + tokens, hidden_size)[: remembered + 2 * tokens]  # (R, H)
        distances = self.distance_drop(distances, training=training)
        others = None
        if token_type_ids is not None:  # the memory is in segment 0
            keys = ops.pad(token_type_ids, [[0, 0], [remembered, 0]])  # (B, S)
            others = token_type_ids[:, :, None] != keys[:, None, :]  # (B, T, S)
        if order_ids is None and positions is not None:  # predictions do not see one another
            chosen = ops.cast(positions, "int32")[:, :, None] == ops.arange(tokens, dtype="int32")  # (B, P, T)
            order_ids = ops.cast(ops.any(chosen, axis=1), "int32")
        if positions is None:
            x = x + 0 * self.prediction  # which then has a gradient, of 0: optimizers warn of weights without one
        seen = _content_mask(attention_mask, order_ids, tokens)
        content = dict(attention_mask=_with_memory(seen, remembered), other_segment=others)
        if positions is not None:
            g = ops.broadcast_to(ops.cast(self.prediction, x.dtype), (*ops.shape(positions), hidden_size))  # (B, P, H)
            g = self.query_drop(g, training=training)
            query = _seen_from(positions, attention_mask, order_ids, others, remembered)

        hidden_states, all_weights = [x], []
        layers = self.passed()[:depth]
        for number, layer in enumerate(layers, start=1):
            source = None  # a layer alone reads its own input, which an analysis may replace
            if positions is not None or memory is not None:
                keys = x if memory is None else ops.concatenate([ops.cast(memory[number - 1], x.dtype), x], axis=1)
                source = layer.attention.read(keys, distances)  # once for both streams
            if positions is None or return_all or number < len(layers):
                # predictions do not look at the content stream of the last layer
                x = layer(x, distances, **content, source=source, training=training, return_weights=return_all)
                if return_all:
                    x, weights = x
                    all_weights.append(weights)
                hidden_states.append(x)
            if positions is not None:
                g = layer(g, distances, **query, source=source, training=training)
        y = self.last_drop(x if positions is None else g, training=training)
        return (y, hidden_states, all_weights) if return_all else y

    def flops(self, tokens: int, num_positions: int) -> int:
        """Operations of the products for one row with so many predictions."""
        *before, last = self.passed()
        both = sum(layer.flops(tokens, tokens) + layer.flops(tokens, num_positions, reads=False) for layer in before)
        return both + last.flops(tokens, num_positions)


def _content_mask(attention_mask, order_ids, tokens):
    """The tokens that the content stream sees: up to each one in the order, and each itself; (…, T, T) or None."""
    mask = combine(attention_mask, None if order_ids is None else order_mask(order_ids))
    indices = ops.arange(tokens)
    return None if mask is None else ops.logical_or(mask, indices[:, None] == indices)


def _with_memory(mask, remembered):
    """The mask with the memory, which every token sees: (…, T) → (…, S)."""
    if mask is None or (isinstance(remembered, int) and not remembered):
        return mask
    return ops.pad(mask, [[0, 0]] * (len(mask.shape) - 1) + [[remembered, 0]], constant_values=True)


def _seen_from(positions, attention_mask, order_ids, other_segment, remembered) -> dict:
    """The tokens that the query stream sees at its positions: those before each one in the order."""
    own = ops.take_along_axis(order_ids, ops.cast(positions, "int32"), axis=1)  # (B, P)
    earlier = order_ids[:, None, :] < own[:, :, None]  # (B, P, T)
    mask = combine(*(None if one is None else with_heads(one) for one in (rows_at(attention_mask, positions), earlier)))
    return dict(
        attention_mask=_with_memory(mask, remembered),
        other_segment=None if other_segment is None else gather_positions(other_segment, positions),  # (B, P, S)
        positions=positions + remembered,
    )
