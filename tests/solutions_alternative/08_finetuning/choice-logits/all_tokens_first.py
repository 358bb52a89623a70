def choice_logits(hidden, v, choices):
    """Scores of all tokens, folded, of which those of [CLS] stay."""
    scores = ops.tensordot(hidden, v, axes=1)  # (questions · choices, tokens)
    return ops.reshape(scores, (-1, choices, hidden.shape[1]))[:, :, 0]
