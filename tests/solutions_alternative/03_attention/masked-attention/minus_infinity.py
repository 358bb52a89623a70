MASKED_SCORE = -1e9


def masked_attention(q, k, v, mask):
    scores = ops.where(mask, attention_scores(q, k), -np.inf)
    return ops.matmul(ops.softmax(scores, axis=-1), v)
