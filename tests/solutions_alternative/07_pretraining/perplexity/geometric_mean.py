def perplexity(losses, counts):
    return ops.prod(ops.power(ops.exp(losses), counts / ops.sum(counts)))
