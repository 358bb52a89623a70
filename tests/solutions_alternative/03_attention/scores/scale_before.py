def attention_scores(q, k):
    quarter = float(q.shape[-1]) ** -0.25
    return ops.matmul(q * quarter, ops.swapaxes(k * quarter, -2, -1))
