"""Drawing tokens from a model's scores.

Letters: B batch, T tokens, P predictions, V vocabulary.
"""

from keras import ops

from bertlab.layers.dropout import GOLDEN, hash_bits, random_bits


def sample_tokens(logits, row_keys):
    """Draws a token for each prediction with the probabilities softmax(logits): argmax(logits + Gumbel noise).

    −log(E) with E exponentially distributed is Gumbel noise (Gumbel 1954; Maddison, Tarlow and Minka 2014, "A*
    Sampling", section 2). No gradient reaches the logits.

    logits: (B, P, V).   row_keys: (B,) int32 decide the draws of a row: see `drawn_row_keys`, `row_keys_of`.
    Returns (B, P) int32.

    Example:
        >>> logits = ops.array([[[0.0, 50.0, 0.0]]])
        >>> ops.convert_to_numpy(sample_tokens(logits, ops.array([17]))).tolist()
        [[1]]
    """
    logits = ops.cast(ops.stop_gradient(ops.convert_to_tensor(logits)), "float32")
    noisy = logits - ops.log(_exponential(ops.shape(logits), row_keys))  # (B, P, V)
    is_highest = noisy >= ops.max(noisy, axis=-1, keepdims=True)
    tokens = ops.arange(logits.shape[-1], dtype="int32")
    # Unlike argmax this needs no search for an index, which is slow on CPUs.
    return ops.min(ops.where(is_highest, tokens, logits.shape[-1] - 1), axis=-1)


def _exponential(shape, row_keys):
    """Exponentially distributed numbers (B, P, V), in each row a function of its key."""
    first = ops.cast(row_keys, "int32")[:, None]  # (B, 1)
    indices = ops.arange(shape[1] * shape[2], dtype="int32")[None]  # (1, P·V)
    bits = hash_bits(indices * GOLDEN + first, hash_bits(first + GOLDEN))  # (B, P·V)
    positive = ops.bitwise_and(ops.right_shift(bits, 1), 2**31 - 1)  # 31 bits, so that small numbers stay exact
    uniform = (ops.cast(positive, "float32") + 0.5) / 2.0**31  # above 0; 1 gives ∞, a token that is never drawn
    return ops.reshape(-ops.log1p(-uniform), shape)


def drawn_row_keys(rows, key):
    """Keys for that many rows, (B,) int32, which differ from key to key. key: as for `dropout.random_bits`.

    Example:
        >>> len(set(ops.convert_to_numpy(drawn_row_keys(4, ops.array([3, 0]))).tolist()))
        4
    """
    return random_bits((rows,), key)


def row_keys_of(ids):
    """A key for each row that depends on its tokens alone: a row then always gets the same draws. ids (B, T) → (B,).

    Example:
        >>> first, second, third = ops.convert_to_numpy(row_keys_of(ops.array([[7, 8], [8, 7], [7, 8]]))).tolist()
        >>> first == third, first == second
        (True, False)
    """
    ids = ops.cast(ids, "int32")
    indices = ops.arange(ops.shape(ids)[1], dtype="int32")[None]  # (1, T)
    return ops.cast(ops.sum(hash_bits(ids, hash_bits(indices + 1)), axis=1), "int32")
