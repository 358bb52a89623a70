def masked_accuracy(logits, labels, weights):
    misses = ops.cast(ops.not_equal(ops.argmax(logits, axis=-1), labels), "float32")
    return 1 - ops.einsum("bp,bp->", misses, weights) / ops.sum(weights)
