from collections import defaultdict


def count_pairs(spelled):
    counts = defaultdict(int)
    for pieces, count in spelled:
        for i in range(len(pieces) - 1):
            counts[(pieces[i], pieces[i + 1])] += count
    return dict(counts)
