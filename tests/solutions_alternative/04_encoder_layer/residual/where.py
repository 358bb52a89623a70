def residual(x, found, rate, training):
    if not training:
        return x + found
    lost = keras.random.uniform(found.shape) < rate
    return ops.where(lost, x, x + found / (1 - rate))
