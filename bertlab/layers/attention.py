"""Scaled dot-product attention and multi-head attention (Vaswani et al. 2017, sections 3.2.1 and 3.2.2).

Letters: B batch, T query tokens, S key tokens, A heads, d head size, H hidden size (H = A·d).
"""

import math

import keras
from keras import ops

from bertlab.errors import ConfigError
from bertlab.layers.dropout import Dropout

HIDDEN = -1e9  # the score of a key that may not be seen: exp(HIDDEN − anything usual) is exactly 0 in float32


def attention_weights(query, key, mask=None):
    """softmax(Q Kᵀ / √d), in float32. A query that may see no key at all spreads its weight evenly.

    query (B, T, A, d), key (B, S, A, d), mask bool broadcasting to (B, A, T, S) → (B, A, T, S) float32.
    """
    query = query / math.sqrt(query.shape[-1])  # scaling (T, d) is cheaper than scaling (T, S)
    scores = ops.einsum("btad,bsad->bats", query, key)
    scores = ops.cast(scores, "float32")
    if mask is not None:
        scores = ops.where(mask, scores, HIDDEN)
    return ops.softmax(scores, axis=-1)


def scaled_dot_product_attention(query, key, value, mask=None):
    """Attention(Q, K, V) through the backend's fused kernel where it has one; nothing of size (T, S) is returned.

    query (B, T, A, d), key and value (B, S, A, d), mask bool broadcasting to (B, A, T, S) → (B, T, A, d).
    """
    if keras.backend.backend() == "tensorflow":  # no fused kernel: the same formula, written out
        weights = ops.cast(attention_weights(query, key, mask), value.dtype)
        return ops.einsum("bats,bsad->btad", weights, value)
    if mask is not None:  # the kernels want every axis in full
        batch, num_queries, num_heads, _ = ops.shape(query)
        mask = ops.broadcast_to(mask, (batch, num_heads, num_queries, ops.shape(key)[1]))
    return ops.dot_product_attention(query, key, value, mask=mask)


@keras.saving.register_keras_serializable("bertlab")
class MultiHeadAttention(keras.layers.Layer):
    """Projects to A heads, lets each attend, and mixes them again: MultiHead(Q, K, V).

    Dropout acts on the attention weights while training. The fused kernel is used whenever neither dropout nor the
    weights themselves are asked for.

    Args:
        num_heads: A; must divide the width H of the queries.
        dropout: share of attention weights set to zero while training, in [0, 1).
        initializer_range: standard deviation of the kernels' truncated normal.

    Call: x (B, T, H); memory (B, S, H), where the keys and values come from (default x: self-attention);
    attention_mask, bool, broadcasting to (B, A, T, S), True where a query may see a key. Returns (B, T, H), or with
    `return_weights=True` that and the weights (B, A, T, S) as they stand before dropout.
    """

    def __init__(self, num_heads: int, dropout: float = 0.0, initializer_range: float = 0.02, **kwargs):
        super().__init__(**kwargs)
        self.num_heads = num_heads
        self.dropout = dropout
        self.initializer_range = initializer_range

    def build(self, x_shape, memory_shape=None):
        hidden_size = x_shape[-1]
        if hidden_size % self.num_heads:
            raise ConfigError(
                f"hidden size {hidden_size} cannot be divided among {self.num_heads} heads: "
                "choose a number of heads that divides it"
            )
        for name in ("query", "key", "value", "output"):
            projection = keras.layers.Dense(
                hidden_size,
                kernel_initializer=keras.initializers.TruncatedNormal(stddev=self.initializer_range),
                dtype=self.dtype_policy,
                name=name,
            )
            from_memory = memory_shape is not None and name in ("key", "value")
            projection.build(memory_shape if from_memory else x_shape)
            setattr(self, f"{name}_projection", projection)
        self.weight_dropout = Dropout(self.dropout, dtype="float32", name="weight_dropout")
        self.weight_dropout.build((None, self.num_heads, None, None))

    def _split_heads(self, x):
        """(B, T, H) → (B, T, A, d)."""
        batch, num_tokens, hidden_size = ops.shape(x)
        return ops.reshape(x, (batch, num_tokens, self.num_heads, hidden_size // self.num_heads))

    def call(self, x, memory=None, attention_mask=None, training=False, return_weights=False):
        memory = x if memory is None else memory
        query = self._split_heads(self.query_projection(x))  # (B, T, A, d)
        key = self._split_heads(self.key_projection(memory))  # (B, S, A, d)
        value = self._split_heads(self.value_projection(memory))  # (B, S, A, d)

        if return_weights or (training and self.dropout):
            weights = attention_weights(query, key, attention_mask)  # (B, A, T, S)
            dropped = ops.cast(self.weight_dropout(weights, training=training), value.dtype)
            heads = ops.einsum("bats,bsad->btad", dropped, value)
        else:
            heads = scaled_dot_product_attention(query, key, value, attention_mask)  # (B, T, A, d)

        y = self.output_projection(ops.reshape(heads, ops.shape(x)))  # (B, T, H)
        return (y, weights) if return_weights else y

    def compute_output_shape(self, x_shape, memory_shape=None):
        return x_shape

    def get_config(self):
        return super().get_config() | {
            "num_heads": self.num_heads,
            "dropout": self.dropout,
            "initializer_range": self.initializer_range,
        }
