def attention(x, w_q, b_q, w_k, b_k, w_v, b_v):
    q = ops.einsum("...td,da->...ta", x, w_q) + b_q
    k = ops.einsum("...td,da->...ta", x, w_k) + b_k
    v = ops.einsum("...td,do->...to", x, w_v) + b_v
    weights = softmax_rows(ops.einsum("...ta,...sa->...ts", q, k) / q.shape[-1] ** 0.5)
    return ops.einsum("...ts,...so->...to", weights, v)
