"""Stands in for what notebook 03 builds."""

from keras import ops

from bertlab import layers

__all__ = ["MultiHeadAttention", "attention_scores", "causal_mask", "padding_mask", "softmax_rows"]


class MultiHeadAttention(layers.MultiHeadAttention):
    """The notebook's layer, `MultiHeadAttention(num_heads)`: query, key, value and out, no dropout.

    call: x (batch, tokens, hidden); attention_mask None or booleans (batch, 1 or tokens, tokens)
    returns (batch, tokens, hidden)
    """

    query = property(lambda self: self.query_projection)
    key = property(lambda self: self.key_projection)
    value = property(lambda self: self.value_projection)
    out = property(lambda self: self.output_projection)

    def build(self, x_shape):
        super().build(x_shape)

    def call(self, x, attention_mask=None):
        if attention_mask is not None:
            attention_mask = ops.expand_dims(attention_mask, axis=1)  # (B, 1, 1 or T, T)
        return super().call(x, attention_mask=attention_mask)


def softmax_rows(a):
    """Softmax of each row."""
    return ops.softmax(a, axis=-1)


def attention_scores(q, k):
    """Q Kᵀ / √d: (..., tokens, d) and (..., others, d) → (..., tokens, others)."""
    return ops.einsum("...td,...sd->...ts", q, k) / q.shape[-1] ** 0.5


def padding_mask(is_real):
    """(batch, tokens) of 1 and 0 → booleans (batch, 1, tokens)."""
    return layers.padding_mask(is_real)[:, 0]


def causal_mask(tokens: int):
    """(tokens, tokens) booleans, True where the key does not lie ahead."""
    return layers.causal_mask(tokens)[0, 0]
