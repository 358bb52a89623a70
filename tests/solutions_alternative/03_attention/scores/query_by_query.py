def attention_scores(q, k):
    rows = []
    for t in range(q.shape[-2]):
        query = q[..., t : t + 1, :]
        rows.append(ops.sum(query * k, axis=-1) / np.sqrt(q.shape[-1]).astype("float32"))
    return ops.stack(rows, axis=-2)
