def sinusoids(length, d_e):
    column = ops.arange(d_e)
    rate = 10000.0 ** (ops.cast(2 * (column // 2), "float32") / d_e)
    angles = ops.cast(ops.arange(length), "float32")[:, None] / rate
    return ops.where(column % 2 == 0, ops.sin(angles), ops.cos(angles))
