from itertools import pairwise


def count_pairs(spelled):
    found = [(pair, count) for pieces, count in spelled for pair in pairwise(pieces)]
    return {pair: sum(n for other, n in found if other == pair) for pair, _ in found}
