def cross_attention(z, h, w_q, b_q, w_k, b_k, w_v, b_v):
    q = add_to_rows(z @ w_q, b_q)
    scores, values = [], []
    for s in range(h.shape[-2]):
        answerer = h[..., s, :][..., None, :]
        scores.append(ops.sum(q * (answerer @ w_k + b_k), axis=-1) / w_k.shape[-1] ** 0.5)
        values.append(answerer @ w_v + b_v)
    weights = softmax_rows(ops.stack(scores, axis=-1))
    return sum(weights[..., s : s + 1] * value for s, value in enumerate(values))
