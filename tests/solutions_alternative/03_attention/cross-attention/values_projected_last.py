def cross_attention(z, h, w_q, b_q, w_k, b_k, w_v, b_v):
    weights = softmax_rows(attention_scores(z @ w_q + b_q, h @ w_k + b_k))
    return (weights @ h) @ w_v + b_v
