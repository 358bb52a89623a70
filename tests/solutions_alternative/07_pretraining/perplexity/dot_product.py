def perplexity(losses, counts):
    shares = counts / ops.sum(counts)
    return ops.exp(ops.dot(losses, shares))
