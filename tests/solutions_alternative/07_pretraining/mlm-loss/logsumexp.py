def mlm_loss(logits, labels, weights):
    chosen = ops.take_along_axis(logits, labels[..., None], axis=-1)[..., 0]
    losses = ops.logsumexp(logits, axis=-1) - chosen
    return ops.einsum("bp,bp->", losses, weights) / (1e-5 + ops.sum(weights))
