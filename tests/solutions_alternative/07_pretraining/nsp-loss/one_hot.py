def nsp_loss(logits, labels):
    return -ops.mean(ops.sum(ops.one_hot(labels, 2) * ops.log_softmax(logits, axis=1), axis=1))
