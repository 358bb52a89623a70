def mh_attention(x, heads, w_o, b_o):
    found = []
    for w_q, b_q, w_k, b_k, w_v, b_v in heads:
        q, k, v = add_to_rows(x @ w_q, b_q), add_to_rows(x @ w_k, b_k), add_to_rows(x @ w_v, b_v)
        found.append(softmax_rows(attention_scores(q, k)) @ v)
    return add_to_rows(ops.concatenate(found, axis=-1) @ w_o, b_o)
