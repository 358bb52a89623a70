def nsp_loss(logits, labels):
    other_minus_own = (logits[:, 1] - logits[:, 0]) * ops.cast(1 - 2 * labels, "float32")
    return ops.mean(ops.softplus(other_minus_own))
