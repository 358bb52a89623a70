def make_pair(documents, document, sentence, rng):
    a, b = documents[document][sentence : sentence + 2]
    if rng.random() >= 0.5:
        step = 1 + rng.integers(len(documents) - 1)  # never a whole turn, so never A's own
        other = documents[(document + step) % len(documents)]
        return a, other[rng.integers(len(other))], 1
    return a, b, 0
