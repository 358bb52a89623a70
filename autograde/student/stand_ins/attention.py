"""The library's version of the names that notebook 03 defines."""

from keras import ops

from bertlab.layers import MultiHeadAttention, causal_mask, padding_mask

__all__ = ["MultiHeadAttention", "attention_scores", "causal_mask", "padding_mask", "softmax_rows"]


def softmax_rows(a):
    """Softmax of each row."""
    return ops.softmax(a, axis=-1)


def attention_scores(q, k):
    """Q Kᵀ / √d: (..., tokens, d) and (..., others, d) → (..., tokens, others)."""
    return ops.einsum("...td,...sd->...ts", q, k) / q.shape[-1] ** 0.5
