def masked_accuracy(logits, labels, weights):
    own = ops.take_along_axis(logits, labels[..., None], axis=-1)[..., 0]
    hits = ops.where(own >= ops.max(logits, axis=-1), 1.0, 0.0)
    return ops.sum(hits * weights) / ops.sum(weights)
