def input_embeddings(token_ids, token_type_ids, w_e, w_s, w_p):
    where = learned_positions(token_ids.shape[-1], w_p)
    sentences = zip(ops.unstack(token_ids), ops.unstack(token_type_ids))
    return ops.stack([token_embeddings(what, w_e) + token_embeddings(which, w_s) + where for what, which in sentences])
