from collections import Counter


def pair_scores(spelled):
    stream = [piece for pieces, count in spelled for piece in pieces * count]
    how_often = Counter(stream)
    return {pair: n * (1 / (how_often[pair[0]] * how_often[pair[1]])) for pair, n in count_pairs(spelled).items()}
