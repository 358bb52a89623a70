def pair_scores(spelled):
    pairs = count_pairs(spelled)
    singles = {}
    for pieces, count in spelled:
        for piece in set(pieces):
            singles[piece] = singles.get(piece, 0) + pieces.count(piece) * count
    scores = {}
    for pair in pairs:
        scores[pair] = pairs[pair] / singles[pair[0]] / singles[pair[1]]
    return scores
