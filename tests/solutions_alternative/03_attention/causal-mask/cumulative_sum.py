def causal_mask(tokens):
    return ops.cumsum(ops.eye(tokens), axis=0) > 0  # once the diagonal has passed, a column stays 1
