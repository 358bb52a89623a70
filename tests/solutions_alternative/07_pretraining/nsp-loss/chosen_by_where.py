def nsp_loss(logits, labels):
    log_p = ops.log_softmax(logits, axis=-1)
    return ops.mean(ops.where(ops.equal(labels, 0), -log_p[:, 0], -log_p[:, 1]))
