def input_embeddings(token_ids, token_type_ids, w_e, w_s, w_p):
    # one long table, three ids per token: [pieces; segments; positions]
    table = ops.concatenate([w_e, w_s, w_p], axis=0)
    places = ops.broadcast_to(ops.arange(token_ids.shape[1]), token_ids.shape) + w_e.shape[0] + w_s.shape[0]
    all_ids = ops.stack([token_ids, token_type_ids + w_e.shape[0], places], axis=-1)
    return ops.sum(token_embeddings(all_ids, table), axis=-2)
