from collections import Counter


def pair_scores(spelled):
    pieces_seen, pairs_seen = Counter(), Counter()
    for pieces, count in spelled:
        for piece in pieces:
            pieces_seen[piece] += count
        for pair in zip(pieces, pieces[1:]):
            pairs_seen[pair] += count
    return {(a, b): n / (pieces_seen[a] * pieces_seen[b]) for (a, b), n in pairs_seen.items()}
