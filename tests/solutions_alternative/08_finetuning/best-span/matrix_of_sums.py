def best_span(start, end, first, last, longest, threshold=0.0):
    sums = start[first : last + 1, None] + end[None, first : last + 1]
    size = len(sums)
    possible = np.triu(np.ones((size, size), bool)) & ~np.triu(np.ones((size, size), bool), k=longest)
    sums = np.where(possible, sums, -np.inf)
    i, j = divmod(int(sums.argmax()), size)
    return (first + i, first + j) if sums[i, j] > start[0] + end[0] + threshold else (0, 0)
