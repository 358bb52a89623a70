"""Choosing some places of every row.

Letters: B batch, T tokens, P places, H hidden size.
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
