MASKED_SCORE = -1e9


def masked_attention(q, k, v, mask):
    penalty = (1.0 - ops.cast(mask, "float32")) * MASKED_SCORE
    return softmax_rows(attention_scores(q, k) + penalty) @ v
