def choice_logits(hidden, v, choices):
    rows, tokens, width = hidden.shape
    folded = ops.reshape(hidden, (rows // choices, choices, tokens, width))
    return ops.einsum("qch,h->qc", folded[:, :, 0], v)
