def unshuffle(y, order):
    moved = ops.cast(ops.equal(ops.arange(y.shape[-2])[:, None], order), y.dtype)  # (token, row)
    return ops.einsum("tr,...rd->...td", moved, y)
