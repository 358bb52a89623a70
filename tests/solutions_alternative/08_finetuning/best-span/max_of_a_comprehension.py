def best_span(start, end, first, last, longest, threshold=0.0):
    pairs = [(i, j) for i in range(first, last + 1) for j in range(i, last + 1) if j - i + 1 <= longest]
    score = lambda pair: start[pair[0]] + end[pair[1]]  # noqa: E731
    best = max(pairs, key=score)
    return (0, 0) if score(best) <= score((0, 0)) + threshold else best
