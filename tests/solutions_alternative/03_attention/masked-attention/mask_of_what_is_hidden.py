MASKED_SCORE = -1e9


def masked_attention(q, k, v, mask):
    hidden = ops.logical_not(mask)
    scores = ops.einsum("btd,bsd->bts", q, k) / float(q.shape[-1]) ** 0.5
    weights = softmax_rows(ops.where(hidden, ops.full_like(scores, MASKED_SCORE), scores))
    return ops.einsum("bts,bso->bto", weights, v)
