from collections import Counter


def count_pairs(spelled):
    counts = Counter()
    for pieces, count in spelled:
        for left, right in zip(pieces[:-1], pieces[1:]):
            counts[left, right] += count
    return counts
