def best_span(start, end, first, last, longest, threshold=0.0):
    found = []
    for i in range(first, last + 1):
        window = end[i : min(i + longest, last + 1)]
        found.append((float(start[i] + window.max()), i, i + int(window.argmax())))
    score, i, j = max(found)
    return (i, j) if score - threshold > start[0] + end[0] else (0, 0)
