IGNORED = -100


def tagging_loss(logits, labels):
    total, number = 0.0, 0.0
    for own_logits, own_labels in zip(ops.unstack(logits), ops.unstack(labels)):
        counts = ops.cast(own_labels != IGNORED, logits.dtype)
        shares = ops.softmax(own_logits)  # (T, K)
        right = ops.sum(shares * ops.one_hot(own_labels, shares.shape[-1]), axis=-1)  # (T,), 0 where ignored
        total = total - ops.sum(ops.log(right + (1 - counts)))
        number = number + ops.sum(counts)
    return total / ops.maximum(number, 1.0)
