IGNORED = -100


def tagging_loss(logits, labels):
    """All positions in one long row, the right class picked by a flat index."""
    classes = logits.shape[-1]
    flat, right = ops.reshape(logits, (-1, classes)), ops.reshape(labels, (-1,))
    counts = ops.cast(right >= 0, "int32")
    own = ops.take(ops.reshape(flat, (-1,)), ops.arange(len(right)) * classes + right * counts)
    losses = ops.logsumexp(flat, axis=-1) - own
    counts = ops.cast(counts, logits.dtype)
    return ops.sum(losses * counts) / ops.maximum(ops.sum(counts), 1.0)
