def attention_scores(q, k):
    turned = ops.matmul(k, ops.swapaxes(q, -1, -2))
    return ops.swapaxes(turned, -1, -2) * (1 / np.float32(np.sqrt(k.shape[-1])))
