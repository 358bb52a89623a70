def attention(x, w_q, b_q, w_k, b_k, w_v, b_v):
    keys, values = add_to_rows(x @ w_k, b_k), add_to_rows(x @ w_v, b_v)
    rows = []
    for t in range(x.shape[-2]):
        query = x[..., t : t + 1, :] @ w_q + b_q
        rows.append(softmax_rows(attention_scores(query, keys)) @ values)
    return ops.concatenate(rows, axis=-2)
