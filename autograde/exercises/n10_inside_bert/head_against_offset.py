"""The head words of a relation that a head finds, and those that the best fixed offset finds."""

from collections import Counter
from fractions import Fraction

import numpy as np

from autograde.exercises.n10_inside_bert._shared import LIBRARY, NUMBERS, attention_rows
from autograde.exercises.writing import Case, Exercise, Random, cases, mistake, plain_function, values


def head_against_offset(maps, edges):
    """Edge by edge, with exact fractions."""
    found, distances = 0, Counter()
    for weights, pairs in zip(maps, edges):
        for word, head in pairs:
            others = [(-weights[word, other], other) for other in range(len(weights)) if other != word]
            found += min(others)[1] == head
            distances[head - word] += 1
    total = sum(distances.values())
    offset = min(distances, key=lambda distance: (-distances[distance], abs(distance), -distance))
    return float(Fraction(found, total)), offset, float(Fraction(distances[offset], total))


def sentence(rng: Random, words: int, pairs: list[tuple[int, int]], right: int, itself: float = 0.0) -> tuple:
    """The attention between words, in which the first `right` pairs get the most; itself: added to the diagonal.

    Of the other pairs the head word looks at the dependent, and not the other way round.
    """
    weights = attention_rows(rng, words, words, sharp=0.4)
    for word, head in pairs[right:]:
        weights[word, head], weights[head, word] = 0.0, 0.9 + 0.1 * rng.random()
    for word, head in pairs[:right]:
        weights[word, head] = 1.2
    weights += itself * np.eye(words)
    return weights / weights.sum(axis=1, keepdims=True), list(pairs)


def bundle(*sentences: tuple) -> Case:
    return Case(([weights for weights, _ in sentences], [pairs for _, pairs in sentences]))


def treebank(rng: Random, itself: float = 0.0) -> Case:
    """Sentences of different lengths and numbers of edges; +1 is the most frequent distance, and 2 is frequent."""
    return bundle(
        sentence(rng, 7, [(0, 1), (2, 4), (5, 6), (3, 4)], 3, itself),
        sentence(rng, 4, [(0, 2)], 0, itself),
        sentence(rng, 5, [(1, 2), (3, 1)], 1, itself),
    )


def backwards(rng: Random, itself: float = 0.0) -> Case:
    """−2 is the most frequent distance, though ±1 together are more frequent; a sentence has no edge."""
    return bundle(
        sentence(rng, 8, [(2, 0), (5, 3), (7, 5), (1, 2)], 2, itself),
        sentence(rng, 3, [], 0, itself),
        sentence(rng, 6, [(4, 3), (3, 1), (0, 1), (2, 1)], 3, itself),
    )


def plain(rng: Random) -> list[Case]:
    return [treebank(rng), backwards(rng)]


def looks_at_itself(rng: Random) -> list[Case]:
    """The largest weight of most rows is that of the word itself."""
    return [treebank(rng, 1.5), backwards(rng, 1.5)]


def equally_frequent(rng: Random) -> list[Case]:
    """The shorter one of +3 and −2; of −2 and +2 the one to the right; of three."""
    one = bundle(sentence(rng, 7, [(0, 3), (4, 2)], 1))
    two = bundle(sentence(rng, 6, [(4, 2), (5, 3)], 1), sentence(rng, 7, [(0, 2), (3, 5), (1, 2)], 2))
    three = bundle(sentence(rng, 8, [(6, 2), (1, 4), (5, 2), (0, 4)], 3), sentence(rng, 7, [(0, 3), (6, 3)], 1))
    return [one, two, three]


def larger(rng: Random) -> list[Case]:
    """Longer sentences, in which one offset is more frequent than any other."""
    while True:
        found, distances = [], Counter()
        for _ in range(int(rng.integers(5, 8))):
            words = int(rng.integers(5, 12))
            pairs = [(int(word), int((word + rng.integers(1, words)) % words)) for word in rng.permutation(words)[:4]]
            found.append(sentence(rng, words, pairs, int(rng.integers(4))))
            distances.update(head - word for word, head in pairs)
        counts = sorted(distances.values())
        if counts[-1] > counts[-2]:
            return [bundle(*found)]


EXERCISE = Exercise(
    probe=plain_function(),
    returns="tuple",
    dtype="float64",
    reference=head_against_offset,
    tolerance=NUMBERS,
    parts=(
        values(3, plain, hidden=larger),
        cases("itself", 1, looks_at_itself, "where words look mostly at themselves the result is wrong: a word is "
            "never its own head word"),
        cases("equally frequent offsets", 1, equally_frequent, "of equally frequent offsets it is the shortest one, "
            "and of these the one to the right"),
    ),
    forbidden=LIBRARY,
    hints=(
        "Two counts over the same edges: where the head's guess is right, and how often each distance occurs.",
        "The guess of a word is the column of the largest weight in its row, its own column left out.",
        "`Counter` of head − dependent over *all* sentences; the best offset is its most frequent key. "
        "A key for `max` may be a tuple: (count, −|offset|, offset).",
    ),
    misconceptions=(
        mistake("itself-allowed", "- 2 * np.eye(len(weights))", "",
            hint="A word may be its own guess in your code. It is never its own head word: leave the diagonal out."),
        mistake("who-looks-at-me", ".argmax(axis=1)", ".argmax(axis=0)",
            hint="You take the word that looks most *at* the dependent: its column. Here the dependent looks: its "
                 "row."),
        mistake("dependent-and-head-exchanged", "for dependent, head in pairs", "for head, dependent in pairs",
            hint="A pair is (dependent, head word). You have them the other way round."),
        mistake("distance-without-sign", "offsets[head - dependent]", "offsets[abs(head - dependent)]",
            hint="Your offsets have no sign, so a word to the left and one to the right count together. A fixed "
                 "offset has one direction."),
        mistake("offset-turned", "offsets[head - dependent]", "offsets[dependent - head]",
            hint="Your offset has the wrong sign. It is head word − dependent: +1 means the next word."),
        mistake("mean-of-sentences", cell="""def head_against_offset(maps, edges):
    shares, offsets = [], Counter()
    for weights, pairs in zip(maps, edges):
        guesses = (weights - 2 * np.eye(len(weights))).argmax(axis=1)
        if pairs:
            shares.append(np.mean([guesses[dependent] == head for dependent, head in pairs]))
        for dependent, head in pairs:
            offsets[head - dependent] += 1
    best = max(offsets, key=lambda offset: (offsets[offset], -abs(offset), offset))
    return float(np.mean(shares)), best, offsets[best] / sum(offsets.values())
""",
            hint="You average the sentences' fractions, so an edge in a short sentence counts more. Count all edges "
                 "together."),
        mistake("offset-of-each-sentence", cell="""def head_against_offset(maps, edges):
    found, total, right, offsets = 0, 0, 0, Counter()
    for weights, pairs in zip(maps, edges):
        guesses = (weights - 2 * np.eye(len(weights))).argmax(axis=1)
        own = Counter(head - dependent for dependent, head in pairs)
        right += max(own.values(), default=0)
        for dependent, head in pairs:
            found += guesses[dependent] == head
            total += 1
            offsets[head - dependent] += 1
    best = max(offsets, key=lambda offset: (offsets[offset], -abs(offset), offset))
    return float(found / total), best, right / total
""",
            hint="You choose the best offset for each sentence, after having seen its edges. A *fixed* offset is one "
                 "for all sentences."),
        mistake("over-all-words", "total = sum(offsets.values())", "total = sum(len(weights) for weights in maps)",
            hint="You divide by the number of words. Only the edges of this relation are asked."),
        mistake("first-of-the-most-frequent",
            "max(offsets, key=lambda offset: (offsets[offset], -abs(offset), offset))",
            "max(offsets, key=lambda offset: offsets[offset])",
            hint="Of equally frequent offsets you take the one that came first. Take the shortest, and of +2 and −2 "
                 "the one to the right."),
    ),
)  # fmt: skip
