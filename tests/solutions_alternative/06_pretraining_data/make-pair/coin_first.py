def make_pair(documents, document, sentence, rng):
    label = int(rng.integers(2))
    where, place = document, sentence + 1
    if label:
        where = int(rng.choice([d for d in range(len(documents)) if d != document]))
        place = int(rng.integers(len(documents[where])))
    return documents[document][sentence], documents[where][place], label
