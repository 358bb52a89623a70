def dropout(x, rate, training):
    if training:
        kept = ops.cast(keras.random.uniform(x.shape) > rate, x.dtype)
        x = x * kept / (1 - rate)
    return x
