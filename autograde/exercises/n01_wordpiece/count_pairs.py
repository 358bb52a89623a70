"""Counts how often two tokens are neighbours."""

from autograde.exercises.n01_wordpiece._shared import (
    WHOLE_TOKENIZERS,
    count_pairs,
    many_words,
    partly_merged,
    spelled_words,
)
from autograde.exercises.writing import Exercise, cases, mistake, values

ACROSS_WORDS = """def count_pairs(spelled):
    counts, last = {}, None
    for pieces, count in spelled:
        for piece in pieces:
            if last is not None:
                counts[last, piece] = counts.get((last, piece), 0) + count
            last = piece
    return counts
"""

EXERCISE = Exercise(
    reference=count_pairs,
    returns="dict",
    parts=(
        values(1, spelled_words),
        cases("tokens of any length", 1, partly_merged,
            "neighbours are whole tokens of any length, also in `a ##b ##b ##b`, which has (##b, ##b) twice; a word of "
            "one token has none", many_words),
    ),
    forbidden=WHOLE_TOKENIZERS,
    hints=(
        "Use two loops: over the words, and in each word over its neighbours.",
        "`zip` of a list and the same list from its second item gives the neighbours, left before right.",
        "A word that occurs 10 times adds 10 for each pair of neighbours, and a pair that occurs twice in it gets 20.",
    ),
    misconceptions=(
        mistake("words-counted-once", "counts.get(pair, 0) + count", "counts.get(pair, 0) + 1",
            hint="Every different word counts once in your result. A word that occurs 10 times adds 10 to its pairs."),
        mistake("last-word-only", "counts.get(pair, 0) + count", "count",
            hint="A pair gets the count of the last word that contains it, which overwrites that of the words before. "
                 "Add the counts."),
        mistake("once-per-word", "in zip(pieces, pieces[1:]):", "in dict.fromkeys(zip(pieces, pieces[1:])):",
            hint="You count a pair that occurs twice in a word only once. Count every occurrence."),
        mistake("across-words", cell=ACROSS_WORDS,
            hint="You count the end of one word and the beginning of the next as neighbours. Count inside each word "
                 "only."),
        mistake("order-lost", "            counts[pair] = counts.get(pair, 0) + count",
            "            pair = tuple(sorted(pair))\n            counts[pair] = counts.get(pair, 0) + count",
            hint="You count (a, b) and (b, a) as the same pair. The order matters: it gives a different merged token."),
        mistake("any-two-pieces", "for pair in zip(pieces, pieces[1:]):",
            "for pair in [(a, b) for i, a in enumerate(pieces) for b in pieces[i + 1 :]]:",
            hint="You count every two tokens of a word, also if others are between them. Only adjacent tokens are "
                 "neighbours."),
        mistake("texts-joined", "counts[pair] = counts.get(pair, 0)", "pair = pair[0] + pair[1]\n"
            "            counts[pair] = counts.get(pair, 0)",
            hint="Your keys are strings, the two texts joined. Use the pair itself as key: (left token, right token)."),
        mistake("every-second-place", "zip(pieces, pieces[1:])", "zip(pieces[::2], pieces[1::2])",
            hint="You move on by two tokens after each pair. Each token except the last one begins a pair, so move "
                 "on by one."),
    ),
)  # fmt: skip
