def count_pairs(spelled):
    counts = {}
    for pieces, count in spelled:
        last = None
        for piece in pieces:
            if last is not None:
                counts.setdefault((last, piece), 0)
                counts[last, piece] += count
            last = piece
    return counts
