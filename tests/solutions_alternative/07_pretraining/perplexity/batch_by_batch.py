def perplexity(losses, counts):
    total = predictions = 0.0
    for loss, count in zip(losses, counts):
        total += loss * count
        predictions += count
    return ops.exp(total / predictions)
