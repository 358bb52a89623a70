def make_pair(documents, document, sentence, rng):
    others = [sentences for d, sentences in enumerate(documents) if d != document]
    far = others[int(rng.random() * len(others))]
    candidates = [(documents[document][sentence + 1], 0), (far[int(rng.random() * len(far))], 1)]
    b, label = candidates[rng.integers(2)]
    return documents[document][sentence], b, label
