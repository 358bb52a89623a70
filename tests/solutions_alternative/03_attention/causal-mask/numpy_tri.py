def causal_mask(tokens):
    return ops.convert_to_tensor(np.tri(tokens, dtype=bool))
