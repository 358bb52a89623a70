from collections import Counter


def count_pairs(spelled):
    total = Counter()
    for pieces, count in spelled:
        inside = Counter(zip(pieces, pieces[1:]))
        total.update({pair: times * count for pair, times in inside.items()})
    return dict(total)
