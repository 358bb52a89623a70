def make_pair(documents, document, sentence, rng):
    order = rng.permutation(len(documents)).tolist()
    order.remove(document)
    pool = documents[order[0]]
    answers = {0: documents[document][sentence + 1], 1: pool[int(rng.integers(len(pool)))]}
    label = 0 if rng.random() > 0.5 else 1
    return documents[document][sentence], answers[label], label
