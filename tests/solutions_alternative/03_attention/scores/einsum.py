def attention_scores(q, k):
    return ops.einsum("...td,...sd->...ts", q, k) / ops.sqrt(ops.cast(ops.shape(q)[-1], q.dtype))
