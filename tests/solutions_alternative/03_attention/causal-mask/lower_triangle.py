def causal_mask(tokens):
    return ops.tril(ops.ones((tokens, tokens), dtype="bool"))
