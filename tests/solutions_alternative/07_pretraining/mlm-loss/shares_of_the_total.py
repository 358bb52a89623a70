def mlm_loss(logits, labels, weights):
    shares = weights / (ops.sum(weights) + 1e-5)
    shifted = logits - ops.max(logits, axis=-1, keepdims=True)
    log_p = shifted - ops.log(ops.sum(ops.exp(shifted), axis=-1, keepdims=True))
    return -ops.sum(ops.take_along_axis(log_p, ops.expand_dims(labels, 2), axis=2)[:, :, 0] * shares)
