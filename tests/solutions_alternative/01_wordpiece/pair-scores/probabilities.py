from collections import defaultdict


def pair_scores(spelled):
    singles = defaultdict(int)
    for pieces, count in spelled:
        for piece in pieces:
            singles[piece] += count
    total = sum(singles.values())
    share = {piece: n / total for piece, n in singles.items()}
    return {(a, b): n / total / (share[a] * share[b]) / total for (a, b), n in count_pairs(spelled).items()}
