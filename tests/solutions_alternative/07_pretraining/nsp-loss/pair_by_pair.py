def nsp_loss(logits, labels):
    losses = [ops.logsumexp(pair) - pair[int(label)] for pair, label in zip(logits, labels)]
    return sum(losses) / len(losses)
