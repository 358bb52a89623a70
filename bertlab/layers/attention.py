"""Scaled dot-product attention and multi-head attention (Vaswani et al. 2017, sections 3.2.1 and 3.2.2).

Letters: B batch, T query tokens, S key tokens, A heads, d head size, H hidden size (H = A·d).
"""

import math

import keras
from keras import ops

from bertlab.common.devices import has_fused_kernel, on_jax_gpu
from bertlab.common.errors import ConfigError
from bertlab.layers.base import Layer, dense_part
from bertlab.layers.dropout import Dropout
from bertlab.layers.masks import with_heads

MASKED_SCORE = -1e9  # of a masked key: exp(MASKED_SCORE − any usual score) is exactly 0 in float32


def attention_scores(query, key):
    """Q Kᵀ / √d, in float32, before mask and softmax. query (B, T, A, d), key (B, S, A, d) → (B, A, T, S).

    Example:
        >>> query = key = ops.ones((1, 2, 1, 4))
        >>> ops.convert_to_numpy(attention_scores(query, key)).tolist()
        [[[[2.0, 2.0], [2.0, 2.0]]]]
    """
    query = query / math.sqrt(query.shape[-1])  # scaling (T, d) is cheaper than scaling (T, S)
    return ops.cast(ops.einsum("btad,bsad->bats", query, key), "float32")


def attention_weights(query, key, mask=None):
    """softmax(Q Kᵀ / √d), in float32. A query whose keys are all masked gets equal weights.

    query (B, T, A, d), key (B, S, A, d), mask bool broadcasting to (B, T, S) or (B, A, T, S) → (B, A, T, S) float32.

    Example:
        >>> query = key = ops.ones((1, 2, 1, 4))
        >>> ops.convert_to_numpy(attention_weights(query, key, causal_mask(2))).tolist()
        [[[[1.0, 0.0], [0.5, 0.5]]]]
    """
    scores = attention_scores(query, key)
    if mask is not None:
        scores = ops.where(with_heads(mask), scores, MASKED_SCORE)
    return ops.softmax(scores, axis=-1)


def scaled_dot_product_attention(query, key, value, mask=None):
    """Attention(Q, K, V) with the backend's fused kernel if it has one; the weights (T, S) are not returned.

    query (B, T, A, d), key and value (B, S, A, d), mask as in `attention_weights` → (B, T, A, d).

    Example:
        >>> query = key = value = keras.random.normal((2, 5, 2, 4))
        >>> tuple(scaled_dot_product_attention(query, key, value).shape)
        (2, 5, 2, 4)
    """
    # With a mask cuDNN trains for even numbers of queries and keys only: Keras would log an error for every layer, and
    # keep the scores in float32. A number is None while Keras traces a model.
    is_odd = any((each.shape[1] or 0) % 2 for each in (query, key))
    if not has_fused_kernel() or (mask is not None and is_odd and on_jax_gpu()):  # the same formula, written out
        weights = ops.cast(attention_weights(query, key, mask), value.dtype)
        return ops.einsum("bats,bsad->btad", weights, value)
    if mask is not None:  # the kernels do not broadcast
        batch, num_queries, num_heads, _ = ops.shape(query)
        mask = ops.broadcast_to(with_heads(mask), (batch, num_heads, num_queries, ops.shape(key)[1]))
    return ops.dot_product_attention(query, key, value, mask=mask)


def size_of_heads(hidden_size: int, num_heads: int) -> int:
    """d = H / A. Raises ConfigError where that is not a whole number."""
    if hidden_size % num_heads:
        raise ConfigError(
            f"hidden size {hidden_size} cannot be divided among {num_heads} heads: choose a number of heads that "
            "divides it"
        )
    return hidden_size // num_heads


@keras.saving.register_keras_serializable("bertlab")
class MultiHeadAttention(Layer):
    """Projects to A heads, computes attention in each, and projects back: MultiHead(Q, K, V).

    Dropout acts on the attention weights in training. The fused kernel is used if neither dropout nor the weights are
    needed.

    Args:
        num_heads: A; must divide the width H of the queries.   biases: whether the four parts have biases.
        dropout: fraction of attention weights set to zero in training, in [0, 1).
        initializer_range: as in `BertConfig`.   output_range: that of `out`, if it differs.

    Parts: `query`, `key`, `value`, `out`, each a Dense layer.

    Call: x (B, T, H); attention_mask, bool, broadcasting to (B, T, S), or to (B, A, T, S) for a mask of each head, True
    where a query may attend to a key; memory (B, S, H), the source of keys and values (default x: self-attention).
    Returns (B, T, H), or with `return_weights=True` that and the weights (B, A, T, S) before dropout.

    Example:
        >>> x = keras.random.normal((2, 5, 8))  # (B, T, H)
        >>> y = MultiHeadAttention(num_heads=2)(x, attention_mask=causal_mask(5))
        >>> tuple(y.shape)
        (2, 5, 8)
    """

    def __init__(
        self,
        num_heads: int,
        dropout: float = 0.0,
        initializer_range: float = 0.02,
        output_range: float | None = None,
        biases: bool = True,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.num_heads = num_heads
        self.dropout = dropout
        self.initializer_range = initializer_range
        self.output_range = output_range
        self.biases = biases

    def build(self, x_shape, memory_shape=None):
        hidden_size = x_shape[-1]
        size_of_heads(hidden_size, self.num_heads)
        memory_shape, usual = memory_shape or x_shape, self.initializer_range
        self.query = dense_part(self, "query", hidden_size, x_shape, usual, use_bias=self.biases)
        self.key = dense_part(self, "key", hidden_size, memory_shape, usual, use_bias=self.biases)
        self.value = dense_part(self, "value", hidden_size, memory_shape, usual, use_bias=self.biases)
        self.out = dense_part(self, "out", hidden_size, x_shape, self.output_range or usual, use_bias=self.biases)
        self.weight_dropout = Dropout(self.dropout, dtype="float32", name="weight_dropout")

    def split_heads(self, x):
        """(B, T, H) → (B, T, A, d)."""
        batch, num_tokens, hidden_size = ops.shape(x)
        return ops.reshape(x, (batch, num_tokens, self.num_heads, hidden_size // self.num_heads))

    def call(self, x, attention_mask=None, memory=None, training=False, return_weights=False):
        memory = x if memory is None else memory
        query = self.split_heads(self.query(x))  # (B, T, A, d)
        key = self.split_heads(self.key(memory))  # (B, S, A, d)
        value = self.split_heads(self.value(memory))  # (B, S, A, d)
        return self.attend(query, key, value, attention_mask, training, return_weights)

    def attend(self, query, key, value, attention_mask, training, return_weights):
        """The output for projected heads; see `call`. query (B, T, A, d), key and value (B, S, A, d)."""
        if return_weights or (training and self.dropout):
            weights = attention_weights(query, key, attention_mask)  # (B, A, T, S)
            dropped = ops.cast(self.weight_dropout(weights, training=training), value.dtype)
            heads = ops.einsum("bats,bsad->btad", dropped, value)
        else:
            heads = scaled_dot_product_attention(query, key, value, attention_mask)  # (B, T, A, d)

        batch, num_tokens = ops.shape(heads)[:2]
        y = self.out(ops.reshape(heads, (batch, num_tokens, self.query.units)))  # (B, T, H)
        return (y, weights) if return_weights else y

    def extend(self, x, keys, values, start, attention_mask=None):
        """Attention of the next tokens of rows whose keys and values are kept: (y, keys, values), without dropout.

        x (B, n, H): the tokens from position `start`; keys, values (B, S, A, d), returned with those of the n tokens
        filled in; attention_mask (B, n, S), False for positions that are not filled yet. y (B, n, H).
        """
        query, start_indices = self.split_heads(self.query(x)), (0, start, 0, 0)
        keys = ops.slice_update(keys, start_indices, ops.cast(self.split_heads(self.key(x)), keys.dtype))
        values = ops.slice_update(values, start_indices, ops.cast(self.split_heads(self.value(x)), values.dtype))
        return self.attend(query, keys, values, attention_mask, False, False), keys, values

    def scores(self, x):
        """Self-attention's scores before mask and softmax, float32: x (B, T, H) → (B, A, T, T)."""
        return attention_scores(self.split_heads(self.query(x)), self.split_heads(self.key(x)))

    def flops(self, queries: int, keys: int) -> int:
        """Operations of the products for one row: the projections, the scores and the weighted sums of the values."""
        of_queries, of_keys = (self.query, self.out), (self.key, self.value)
        projections = sum(2 * queries * math.prod(part.kernel.shape) for part in of_queries)
        projections += sum(2 * keys * math.prod(part.kernel.shape) for part in of_keys)
        return projections + 4 * queries * keys * self.query.kernel.shape[-1]
