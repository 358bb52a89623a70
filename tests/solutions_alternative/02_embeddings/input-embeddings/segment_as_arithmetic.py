def input_embeddings(token_ids, token_type_ids, w_e, w_s, w_p):
    is_b = ops.expand_dims(ops.cast(token_type_ids, w_s.dtype), -1)
    segments = w_s[0] + is_b * (w_s[1] - w_s[0])
    return ops.add(ops.add(token_embeddings(token_ids, w_e), segments), w_p[: token_ids.shape[1]])
