def cosine_similarities(x):
    unit = x * ops.rsqrt(ops.sum(x * x, axis=-1, keepdims=True))
    apart = ops.expand_dims(unit, -2) - ops.expand_dims(unit, -3)
    return 1 - ops.sum(ops.square(apart), axis=-1) / 2  # |a - b|^2 = 2 - 2 a.b for unit vectors
