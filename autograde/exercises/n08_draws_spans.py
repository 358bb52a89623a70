"""Inputs and references of exercises 8.7 to 8.9, in NumPy and plain Python.

A row of 12 tokens: [CLS] at 0, a question at 1 to 3, [SEP], the paragraph from 5 to 10, [SEP].
"""

import string
from collections import Counter

import numpy as np

from autograde.exercises.n08_common import Random, head_case, normal
from autograde.exercises.spec import Case, Slopes, Trial

MASKED_SCORE = -1e9
FIRST, LAST, TOKENS = 5, 10, 12
EACH_BY_ITSELF = """\
def best_span(start, end, first, last, longest, threshold=0.0):
    i = first + int(np.argmax(start[first : last + 1]))
    j = first + int(np.argmax(end[first : last + 1]))
    return (i, j) if start[i] + end[j] > start[0] + end[0] + threshold else (0, 0)
"""
NAMES = ("owl", "castle", "letter", "train", "stone", "platform", "wizard", "feather", "lantern", "broom")


# --- references ---


def span_head(hidden, may_answer, weights, config):
    kernel, bias = weights["dense/kernel"], weights["dense/bias"]
    logits = np.stack([hidden @ kernel[:, side] + bias[side] for side in (0, 1)], axis=1)
    return np.where(may_answer[:, None, :], logits, MASKED_SCORE)


def best_span(start, end, first, last, longest, threshold):
    """All sums as a matrix, those of impossible spans struck out."""
    i, j = np.indices((len(start), len(end)))
    possible = (first <= i) & (i <= j) & (j <= last) & (j - i < longest)
    sums = np.where(possible, start[:, None] + end[None, :], -np.inf)
    if sums.max() <= start[0] + end[0] + threshold:
        return 0, 0
    return tuple(int(place) for place in np.unravel_index(sums.argmax(), sums.shape))


def _words(text):
    bare = "".join(letter for letter in text.lower() if letter not in string.punctuation)
    return [word for word in bare.split() if word not in ("a", "an", "the")]


def _overlap(gold, guess):
    if not gold or not guess:
        return float(gold == guess)
    shared = sum(min(count, guess.count(word)) for word, count in Counter(gold).items())
    precision, recall = shared / len(guess), shared / len(gold)
    return 2 * precision * recall / (precision + recall) if shared else 0.0


def span_scores(prediction, answers):
    guess, golds = _words(prediction), [_words(answer) for answer in answers] or [[]]
    return max(float(gold == guess) for gold in golds), max(_overlap(gold, guess) for gold in golds)


# --- 8.7 the span head ---


def _span_case(rng: Random, batch: int, tokens: int, width: int, may_answer) -> Case:
    return head_case(rng, normal(rng, batch, tokens, width), 2, {}, may_answer)


def all_may_answer(rng: Random) -> list[Case]:
    return [
        _span_case(rng, 3, 5, 4, np.ones((3, 5), bool)),
        _span_case(rng, 2, 2, 6, np.ones((2, 2), bool)),
    ]


def some_may_answer(rng: Random) -> list[Case]:
    may = rng.random((3, 6)) < 0.5
    may[:, 0], may[:, -1] = True, False
    return [_span_case(rng, 3, 6, 4, may)]


def slopes_of_spans(rng: Random) -> list[Trial]:
    case = _span_case(rng, 2, 4, 5, np.ones((2, 4), bool))
    directions = {role: normal(rng, *weight.shape) for role, weight in case.weights.items()}
    return [Trial((case,), (Slopes(normal(rng, 2, 2, 4), directions),))]


# --- 8.8 the best span ---


def _logits(rng: Random, starts: dict, ends: dict, null: float) -> tuple[np.ndarray, np.ndarray]:
    """Low noise with peaks; `null` is what [CLS] has in both."""
    rows = [normal(rng, TOKENS, size=0.5) for _ in range(2)]
    for row, peaks in zip(rows, (starts, ends)):
        row[0] = null
        for place, height in peaks.items():
            row[place] += height
    return rows[0], rows[1]


def _span(rng: Random, starts: dict, ends: dict, null=-3.0, longest=3, threshold=0.0) -> Case:
    return Case((*_logits(rng, starts, ends, null), FIRST, LAST, longest, threshold))


def plain_spans(rng: Random) -> list[Case]:
    """One token, two, and as many as are allowed, the last token of the paragraph among them."""
    places = [int(rng.integers(FIRST, LAST - 1)) for _ in range(2)]
    spans = [(places[0], places[0]), (places[1], places[1] + 1), (LAST - 2, LAST)]
    return [_span(rng, {i: 6}, {j: 6}) for i, j in spans]


def impossible_spans(rng: Random) -> list[Case]:
    early = int(rng.integers(FIRST, FIRST + 3))
    return [
        _span(rng, {early + 2: 6}, {early: 6}),  # the end before the start
        _span(rng, {FIRST: 6, FIRST + 3: 2}, {LAST: 6, FIRST + 1: 2}),  # far apart
        _span(rng, {early: 6}, {early + 3: 6}),  # one token too many
    ]


def tempting_questions(rng: Random) -> list[Case]:
    place = int(rng.integers(FIRST, LAST))
    return [
        _span(rng, {2: 9, place: 5}, {3: 9, place: 5}),
        _span(rng, {4: 9, FIRST: 5}, {FIRST: 5}),
        _span(rng, {place: 5}, {place: 5, LAST + 1: 9}),
    ]


def no_answers(rng: Random) -> list[Case]:
    place = int(rng.integers(FIRST, LAST))
    return [
        _span(rng, {place: 4}, {place: 4}, null=8.0),
        _span(rng, {place: 6}, {place: 6}, null=4.0, threshold=8.0),
        _span(rng, {place: 6}, {place: 6}, null=8.0, threshold=-8.0),
    ]


# --- 8.9 exact match and F1 ---


def one_answer(rng: Random) -> list[Case]:
    a, b, c, d, e = (str(word) for word in rng.permutation(NAMES)[:5])
    return [
        Case((f"The {a} and {b}.", [f"{a} and {b}"])),
        Case((f"{a.title()}, {a} {b} {d} {e}", [f"an {a} {c} {b} {a}"])),
        Case((f"a {c} {d}", [f"{a} {b} {c}"])),
        Case((a, [b])),
    ]


def several_answers(rng: Random) -> list[Case]:
    a, b, c, d = (str(word) for word in rng.permutation(NAMES)[:4])
    return [Case((f"{a} {b}", [f"{c} {a}", f"{a} {b} {d}", f"the {a} {b}"])), Case((f"{a} {b}", [c, f"{a} {d} {b}"]))]


def empty_answers(rng: Random) -> list[Case]:
    a, b = (str(word) for word in rng.permutation(NAMES)[:2])
    return [Case(("", [])), Case((f"{a} {b}", [])), Case(("", [f"{a} {b}"])), Case(("the", [f"{b}"]))]
