def causal_mask(tokens):
    place = ops.arange(tokens)
    distance = place[:, None] - place[None, :]
    return ops.greater_equal(distance, 0)
