def input_embeddings(token_ids, token_type_ids, w_e, w_s, w_p):
    places = ops.arange(token_ids.shape[1])
    return ops.take(w_e, token_ids, axis=0) + ops.take(w_s, token_type_ids, axis=0) + ops.take(w_p, places, axis=0)
