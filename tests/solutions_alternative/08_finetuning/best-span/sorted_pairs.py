import itertools


def best_span(start, end, first, last, longest, threshold=0.0):
    """All pairs, the best first, until one is possible."""
    places = range(first, last + 1)
    pairs = sorted(itertools.product(places, places), key=lambda pair: -(start[pair[0]] + end[pair[1]]))
    i, j = next((i, j) for i, j in pairs if 0 <= j - i < longest)
    if start[i] + end[j] > start[0] + end[0] + threshold:
        return i, j
    return 0, 0
