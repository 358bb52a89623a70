def cosine_similarities(x):
    unit = ops.normalize(x, axis=-1, order=2)
    return ops.matmul(unit, ops.swapaxes(unit, -1, -2))
