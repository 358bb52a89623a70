MASKED_SCORE = np.finfo("float32").min


def masked_attention(q, k, v, mask):
    seen = ops.cast(mask, "float32")
    scores = attention_scores(q, k) * seen + MASKED_SCORE * (1 - seen)
    return ops.matmul(softmax_rows(scores), v)
