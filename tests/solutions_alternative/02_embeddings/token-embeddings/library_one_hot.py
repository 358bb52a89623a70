def token_embeddings(token_ids, w_e):
    return ops.matmul(ops.one_hot(token_ids, w_e.shape[0], dtype=w_e.dtype), w_e)
