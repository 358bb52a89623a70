def add_to_rows(x, b):
    extended = ops.concatenate([x, ops.ones_like(x[..., :1])], axis=-1)
    matrix = ops.concatenate([ops.eye(b.shape[0]), b[None, :]], axis=0)
    return ops.matmul(extended, matrix)
