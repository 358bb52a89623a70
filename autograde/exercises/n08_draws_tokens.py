"""Inputs and references of exercises 8.5 and 8.6, in NumPy and plain Python."""

import numpy as np

from autograde.exercises.n08_common import Random, normal
from autograde.exercises.spec import Case

IGNORED = -100
WORDS = (["paris"], ["'", "s"], ["geo", "##gu", "##es", "##sr"], ["play", "##ing"], ["the"], ["##s"], ["robin", "##s"])


def align(pieces_of_words, tags):
    """Marks the places of first pieces in a row that is IGNORED throughout."""
    labels = [IGNORED] * (2 + sum(map(len, pieces_of_words)))
    place = 1
    for pieces, tag in zip(pieces_of_words, tags):
        if pieces:
            labels[place] = tag
        place += len(pieces)
    return labels


def tagging_loss(logits, labels):
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    shares = powers / powers.sum(axis=-1, keepdims=True)
    rows, places = np.nonzero(labels != IGNORED)
    if not len(rows):
        return np.array(0.0)
    return np.array(-np.mean(np.log(shares[rows, places, labels[rows, places]])))


def _sentence(rng: Random, words: int) -> tuple[list, list]:
    """Words of one to four pieces, one long word among them at least, and tags that are not all 0."""
    pieces = [list(WORDS[i]) for i in rng.integers(len(WORDS), size=words)]
    pieces[int(rng.integers(words))] = list(WORDS[2])
    tags = [int(tag) for tag in rng.integers(1, 5, size=words)]
    return pieces, tags


def sentences(rng: Random) -> list[Case]:
    example = Case(([["paris"], ["'", "s"], ["geo", "##gu", "##es", "##sr"]], [3, 0, 1]), note="the example above")
    return [example, *(Case(_sentence(rng, words)) for words in (3, 6))]


def with_empty_words(rng: Random) -> list[Case]:
    found = []
    for words in (3, 5):
        pieces, tags = _sentence(rng, words)
        pieces[int(rng.integers(words))] = []
        found.append(Case((pieces, tags)))
    return found


def _labels(rng: Random, rows: int, tokens: int, classes: int) -> np.ndarray:
    """At least two labels in every row, of all classes, and rows with different numbers of them."""
    labels = rng.integers(classes, size=(rows, tokens)).astype("int32")
    for row in range(rows):
        labels[row, tokens - 1 - row :] = IGNORED
    labels[:, 0] = IGNORED
    return labels


def logits_and_labels(rng: Random) -> list[Case]:
    return [
        Case((normal(rng, 2, 6, 3, size=2), _labels(rng, 2, 6, 3))),
        Case((normal(rng, 3, 6, 6, size=2), _labels(rng, 3, 6, 6))),
    ]


def all_ignored(rng: Random) -> list[Case]:
    return [Case((normal(rng, 2, 4, 3), np.full((2, 4), IGNORED, "int32")))]
