def unshuffle(y, order):
    rows = []
    for token in range(y.shape[-2]):
        row = int(ops.argmax(ops.cast(ops.equal(order, token), "int32")))
        rows.append(y[..., row : row + 1, :])
    return ops.concatenate(rows, axis=-2)
