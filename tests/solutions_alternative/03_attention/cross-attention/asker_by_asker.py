def cross_attention(z, h, w_q, b_q, w_k, b_k, w_v, b_v):
    keys, values = add_to_rows(h @ w_k, b_k), add_to_rows(h @ w_v, b_v)
    rows = []
    for t in range(z.shape[-2]):
        query = z[..., t : t + 1, :] @ w_q + b_q
        rows.append(softmax_rows(attention_scores(query, keys)) @ values)
    return ops.concatenate(rows, axis=-2)
