IGNORED = -100


def tagging_loss(logits, labels):
    """The sum over classes of the log-shares where that class is the right one."""
    log_shares = logits - ops.logsumexp(logits, axis=-1, keepdims=True)
    total, number = 0.0, 0.0
    for label in range(logits.shape[-1]):
        here = ops.cast(ops.equal(labels, label), logits.dtype)
        total += ops.sum(here * log_shares[..., label])
        number += ops.sum(here)
    return -total / ops.maximum(number, 1.0)
