def attention(x, w_q, b_q, w_k, b_k, w_v, b_v):
    together = ops.matmul(x, ops.concatenate([w_q, w_k, w_v], axis=1)) + ops.concatenate([b_q, b_k, b_v], axis=0)
    d = w_q.shape[1]
    q, k, v = together[..., :d], together[..., d : 2 * d], together[..., 2 * d :]
    return ops.matmul(softmax_rows(attention_scores(q, k)), v)
