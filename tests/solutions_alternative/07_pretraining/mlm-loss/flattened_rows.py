def mlm_loss(logits, labels, weights):
    flat = ops.reshape(logits, (-1, logits.shape[-1]))
    labels, weights = ops.reshape(labels, (-1,)), ops.reshape(weights, (-1,))
    log_p = ops.log_softmax(flat, axis=1)
    chosen = ops.take_along_axis(log_p, ops.expand_dims(labels, 1), axis=1)[:, 0]
    return -ops.sum(chosen * weights) / (ops.sum(weights) + 1e-5)
