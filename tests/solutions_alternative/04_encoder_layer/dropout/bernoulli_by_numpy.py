def dropout(x, rate, training):
    if not training:
        return x
    kept = np.random.default_rng().binomial(1, 1 - rate, size=x.shape)
    return x * ops.convert_to_tensor((kept / (1 - rate)).astype("float32"))
