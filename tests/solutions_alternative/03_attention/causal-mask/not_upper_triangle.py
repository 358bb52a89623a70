def causal_mask(tokens):
    return ops.logical_not(ops.cast(ops.triu(ops.ones((tokens, tokens)), k=1), "bool"))
