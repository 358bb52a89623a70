def token_embeddings(token_ids, w_e):
    total = 0.0
    for row in range(w_e.shape[0]):
        here = ops.cast(ops.equal(token_ids, row), w_e.dtype)  # (..., tokens)
        total = total + ops.expand_dims(here, -1) * w_e[row]
    return total
