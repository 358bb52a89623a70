def mlm_loss(logits, labels, weights):
    log_p = ops.log_softmax(logits, axis=-1)
    losses = -ops.sum(log_p * ops.one_hot(labels, logits.shape[-1]), axis=-1)
    return ops.sum(losses * weights) / (ops.sum(weights) + 1e-5)
