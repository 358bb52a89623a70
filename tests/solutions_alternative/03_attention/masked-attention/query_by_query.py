MASKED_SCORE = -1e9


def masked_attention(q, k, v, mask):
    mask = ops.broadcast_to(mask, (q.shape[0], q.shape[1], k.shape[1]))
    rows = []
    for t in range(q.shape[1]):
        scores = ops.sum(q[:, t, None, :] * k, axis=-1) / q.shape[-1] ** 0.5
        weights = softmax_rows(ops.where(mask[:, t], scores, MASKED_SCORE))
        rows.append(ops.sum(weights[:, :, None] * v, axis=1))
    return ops.stack(rows, axis=1)
