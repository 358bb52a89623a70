def perplexity(losses, counts):
    return ops.exp(ops.average(losses, weights=counts))
