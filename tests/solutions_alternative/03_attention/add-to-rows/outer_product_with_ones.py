def add_to_rows(x, b):
    ones = ops.ones((1, x.shape[-2]), dtype=x.dtype)
    repeated = ops.matmul(ops.reshape(b, (-1, 1)), ones)  # bᵀ 1, (n, m)
    return x + ops.transpose(repeated)
