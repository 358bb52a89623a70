def make_pair(documents, document, sentence, rng):
    a = documents[document][sentence]
    if rng.choice([True, False]):
        return a, documents[document][sentence + 1], 0
    other = document
    while other == document:
        other = rng.integers(len(documents))
    return a, str(rng.choice(documents[other])), 1
