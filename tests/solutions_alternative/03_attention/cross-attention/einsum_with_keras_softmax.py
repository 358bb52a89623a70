def cross_attention(z, h, w_q, b_q, w_k, b_k, w_v, b_v):
    q = ops.einsum("...td,da->...ta", z, w_q) + b_q
    k = ops.einsum("...sd,da->...sa", h, w_k) + b_k
    v = ops.einsum("...sd,do->...so", h, w_v) + b_v
    weights = ops.softmax(ops.einsum("...ta,...sa->...ts", q, k) * w_q.shape[1] ** -0.5, axis=-1)
    return ops.einsum("...ts,...so->...to", weights, v)
