import numpy


def pair_scores(spelled):
    pieces = sorted({piece for word, _ in spelled for piece in word})
    number = {piece: i for i, piece in enumerate(pieces)}
    singles, pairs = numpy.zeros(len(pieces)), numpy.zeros((len(pieces), len(pieces)))
    for word, count in spelled:
        for piece in word:
            singles[number[piece]] += count
        for a, b in zip(word, word[1:]):
            pairs[number[a], number[b]] += count
    scores = pairs / numpy.outer(singles, singles)
    return {(pieces[i], pieces[j]): float(scores[i, j]) for i, j in zip(*numpy.nonzero(pairs))}
