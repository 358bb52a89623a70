def choice_logits(hidden, v, choices):
    scores = ops.dot(hidden[:, 0, :], v)
    return ops.stack(ops.split(scores, hidden.shape[0] // choices))
