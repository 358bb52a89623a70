def causal_mask(tokens):
    rows = [[j <= i for j in range(tokens)] for i in range(tokens)]
    return ops.convert_to_tensor(rows, dtype="bool")
