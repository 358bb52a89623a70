def residual(x, found, rate, training):
    return ops.sum(ops.stack([x, dropout(found, rate, training)]), axis=0)
