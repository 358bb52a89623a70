def masked_accuracy(logits, labels, weights):
    hits = ops.in_top_k(ops.reshape(labels, (-1,)), ops.reshape(logits, (-1, logits.shape[-1])), 1)
    return ops.average(ops.cast(hits, "float32"), weights=ops.reshape(weights, (-1,)))
