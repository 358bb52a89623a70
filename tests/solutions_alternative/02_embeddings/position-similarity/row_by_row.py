def cosine_similarities(x):
    lengths = ops.norm(x, axis=-1)
    rows = []
    for s in range(x.shape[-2]):
        products = ops.sum(x * x[..., s : s + 1, :], axis=-1)
        rows.append(products / (lengths * lengths[..., s : s + 1]))
    return ops.stack(rows, axis=-2)
