def attention(x, w_q, b_q, w_k, b_k, w_v, b_v):
    scores = attention_scores(add_to_rows(x @ w_q, b_q), add_to_rows(x @ w_k, b_k))
    powers = ops.exp(scores - ops.max(scores, axis=-1, keepdims=True))
    return (powers @ add_to_rows(x @ w_v, b_v)) / ops.sum(powers, axis=-1, keepdims=True)
