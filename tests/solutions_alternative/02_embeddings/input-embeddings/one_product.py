def input_embeddings(token_ids, token_type_ids, w_e, w_s, w_p):
    tokens = token_ids.shape[1]
    places = ops.broadcast_to(ops.one_hot(ops.arange(tokens), w_p.shape[0]), (*token_ids.shape, w_p.shape[0]))
    hot = [ops.one_hot(token_ids, w_e.shape[0]), ops.one_hot(token_type_ids, w_s.shape[0]), places]
    return ops.matmul(ops.concatenate(hot, axis=-1), ops.concatenate([w_e, w_s, w_p], axis=0))
