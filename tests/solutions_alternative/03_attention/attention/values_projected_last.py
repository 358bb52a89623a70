def attention(x, w_q, b_q, w_k, b_k, w_v, b_v):
    weights = softmax_rows(attention_scores(x @ w_q + b_q, x @ w_k + b_k))
    return (weights @ x) @ w_v + b_v  # shares sum to 1, so the bias comes through unchanged
