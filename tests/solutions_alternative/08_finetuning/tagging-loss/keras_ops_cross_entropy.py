IGNORED = -100


def tagging_loss(logits, labels):
    mask = ops.not_equal(labels, IGNORED)
    losses = ops.sparse_categorical_crossentropy(ops.maximum(labels, 0), logits, from_logits=True)
    number = ops.sum(ops.cast(mask, "float32"))
    total = ops.sum(ops.where(mask, losses, 0.0))
    return ops.where(number > 0, total / ops.maximum(number, 1.0), 0.0)
