from itertools import groupby


def count_pairs(spelled):
    found = sorted((pieces[i : i + 2], count) for pieces, count in spelled for i in range(len(pieces) - 1))
    return {tuple(pair): sum(n for _, n in group) for pair, group in groupby(found, key=lambda item: item[0])}
