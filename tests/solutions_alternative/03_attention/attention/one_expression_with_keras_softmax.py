def attention(x, w_q, b_q, w_k, b_k, w_v, b_v):
    q, k, v = x @ w_q + b_q, x @ w_k + b_k, x @ w_v + b_v
    return keras.ops.softmax(q @ ops.swapaxes(k, -1, -2) / w_q.shape[-1] ** 0.5) @ v
