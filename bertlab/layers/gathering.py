"""Choosing some places of every row.

Letters: B batch, T tokens, P places, H hidden size.
"""

from keras import ops


def gather_positions(x, positions):
    """The vectors at some positions of each row. x (B, T, H), positions (B, P) int → (B, P, H)."""
    return ops.take_along_axis(x, ops.cast(positions, "int32")[:, :, None], axis=1)
