def best_span(start, end, first, last, longest, threshold=0.0):
    """All spans of one token at once, then all of two …"""
    best, span = start[0] + end[0] + threshold, (0, 0)
    for length in range(1, min(longest, last - first + 1) + 1):
        sums = start[first : last - length + 2] + end[first + length - 1 : last + 1]
        place = int(np.argmax(sums))
        if sums[place] > best:
            best, span = sums[place], (first + place, first + place + length - 1)
    return span
