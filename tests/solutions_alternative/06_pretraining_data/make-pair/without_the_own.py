def make_pair(documents, document, sentence, rng):
    others = documents[:document] + documents[document + 1 :]
    chosen = others[rng.permutation(len(others))[0]]
    unrelated = chosen[rng.permutation(len(chosen))[0]]
    related = documents[document][sentence + 1]
    label = int(rng.binomial(1, 0.5))
    return documents[document][sentence], (related, unrelated)[label], label
