"""Choosing and replacing some positions of every row.

Letters: B batch, T tokens, P positions, H hidden size.
"""

from keras import ops


def gather_positions(x, positions):
    """The vectors at some positions of each row. x (B, T, H), positions (B, P) int → (B, P, H).

    Example:
        >>> x = ops.array([[[1.0], [2.0], [3.0]]])
        >>> ops.convert_to_numpy(gather_positions(x, ops.array([[2, 0]]))).tolist()
        [[[3.0], [1.0]]]
    """
    return ops.take_along_axis(x, ops.cast(positions, "int32")[:, :, None], axis=1)


def last_real_vectors(x, attention_mask=None):
    """The vector of each row's last real token; padding may be on any side.

    x (B, T, H); attention_mask (B, T), 1 for a real token, default all → (B, H).

    Example:
        >>> x = ops.array([[[1.0], [2.0], [3.0]]])
        >>> ops.convert_to_numpy(last_real_vectors(x, ops.array([[1, 1, 0]]))).tolist()
        [[2.0]]
    """
    if attention_mask is None:
        return x[:, -1]
    indices = ops.arange(ops.shape(x)[1], dtype="int32") * ops.cast(attention_mask, "int32")  # (B, T)
    return gather_positions(x, ops.max(indices, axis=1, keepdims=True))[:, 0]


def put_at_positions(x, positions, values, used):
    """The rows with other values at some positions.

    x (B, T) int; positions, values (B, P) int; used (B, P), 0 for those of them that mean nothing → (B, T) int32.

    Example:
        >>> x, positions = ops.array([[7, 8, 9]]), ops.array([[2, 0]])
        >>> ops.convert_to_numpy(put_at_positions(x, positions, ops.array([[5, 6]]), ops.array([[1, 0]]))).tolist()
        [[7, 8, 5]]
    """
    x, positions, values = (ops.cast(numbers, "int32") for numbers in (x, positions, values))
    indices = ops.arange(ops.shape(x)[1], dtype="int32")  # (T,)
    at = ops.logical_and(ops.equal(positions[:, :, None], indices), ops.cast(used, "bool")[:, :, None])  # (B, P, T)
    put = ops.cast(ops.sum(ops.where(at, values[:, :, None], 0), axis=1), "int32")  # (B, T)
    return ops.where(ops.any(at, axis=1), put, x)
