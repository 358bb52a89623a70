def attention_scores(q, k):
    products = ops.expand_dims(q, -2) * ops.expand_dims(k, -3)  # (..., t, s, d)
    return ops.mean(products, axis=-1) * q.shape[-1] ** 0.5
