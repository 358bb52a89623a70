def fill_in(token_ids, logits, pieces, k=5):
    scores = np.asarray(logits)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    probabilities = powers / powers.sum(axis=-1, keepdims=True)
    blanks = [place for place, token in enumerate(token_ids) if pieces[token] == "[MASK]"]
    return [
        [(pieces[i], probabilities[place, i].item()) for i in np.argsort(-probabilities[place])[:k]] for place in blanks
    ]
