def input_embeddings(token_ids, token_type_ids, w_e, w_s, w_p):
    columns = []
    for t in range(token_ids.shape[-1]):
        columns.append(token_embeddings(token_ids[:, t], w_e) + token_embeddings(token_type_ids[:, t], w_s) + w_p[t])
    return ops.stack(columns, axis=1)
