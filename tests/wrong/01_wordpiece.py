# Wrong answers to the exercises of notebook 01 that the checks must find; known mistakes with a name are in the catalogue.
# A cell has the set-up and the answers before it in the notebook. It must never earn all points, whatever the inputs.

# %% pair-scores: divided twice
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

# %% pair-scores: probabilities
from collections import defaultdict


def pair_scores(spelled):
    singles = defaultdict(int)
    for pieces, count in spelled:
        for piece in pieces:
            singles[piece] += count
    total = sum(singles.values())
    share = {piece: n / total for piece, n in singles.items()}
    return {(a, b): n / total / (share[a] * share[b]) / total for (a, b), n in count_pairs(spelled).items()}

# %% pair-scores: written out words
from collections import Counter


def pair_scores(spelled):
    stream = [piece for pieces, count in spelled for piece in pieces * count]
    how_often = Counter(stream)
    return {pair: n * (1 / (how_often[pair[0]] * how_often[pair[1]])) for pair, n in count_pairs(spelled).items()}

