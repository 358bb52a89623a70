MASKED_SCORE = -1e9


def masked_attention(q, k, v, mask):
    scores = attention_scores(q, k)
    powers = ops.exp(scores - ops.max(scores, axis=-1, keepdims=True)) * ops.cast(mask, scores.dtype)
    return powers @ v / ops.sum(powers, axis=-1, keepdims=True)
