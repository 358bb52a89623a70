"""Ettinger's two measures: the word among the k most likely ones, and the truer word, with and without "not"."""

import numpy as np

from autograde.exercises.n10_inside_bert._shared import LIBRARY, NUMBERS
from autograde.exercises.writing import Case, Exercise, Random, cases, mistake, plain_function, values


def top_k_and_negation(affirmative, negated, target_aff, target_neg, k):
    """Item by item."""
    among, plain, turned = [], [], []
    for with_, without, true, false in zip(affirmative, negated, target_aff, target_neg):
        among.append(sorted(with_, reverse=True).index(with_[true]) < k)
        plain.append(with_[true] > with_[false])
        turned.append(without[false] > without[true])
    return tuple(float(np.mean(each)) for each in (among, plain, turned))


def distributions(rng: Random, items: int, vocabulary: int) -> np.ndarray:
    weights = np.exp(rng.normal(size=(items, vocabulary)))
    return weights / weights.sum(axis=1, keepdims=True)


def items(rng: Random, count: int, vocabulary: int, k: int) -> Case:
    """Items in which each other way to count (see `_telling`) gives other fractions."""
    while True:
        arguments = _drawn_items(rng, count, vocabulary, k)
        if _telling(*arguments):
            return Case(arguments)


def _drawn_items(rng: Random, count: int, vocabulary: int, k: int) -> tuple:
    """The first target of item 0 is the k-th most likely token, of item 1 the one behind it, of item 2 the last one.

    In item 3 negation lowers both words, and the first one stays the likelier; in item 4 it lowers the first alone.
    """
    affirmative, negated = distributions(rng, count, vocabulary), distributions(rng, count, vocabulary)
    ranked = np.argsort(-affirmative, axis=1)
    first = rng.integers(vocabulary, size=count)
    first[:3] = ranked[0, k - 1], ranked[1, k], ranked[2, -1]
    second = (first + rng.integers(1, vocabulary, size=count)) % vocabulary
    for item, (of_first, of_second) in ((3, (0.6, 0.5)), (4, (0.3, 0.7))):
        both = affirmative[item, first[item]] * np.array([of_first, of_second])
        negated[item, [first[item], second[item]]] = 0
        negated[item] *= (1 - both.sum()) / negated[item].sum()
        negated[item, [first[item], second[item]]] = both
    return affirmative, negated, first, second, k


def _telling(affirmative, negated, first, second, k) -> bool:
    rows = np.arange(len(first))
    plain, turned = affirmative[rows, first] > affirmative[rows, second], negated[rows, second] > negated[rows, first]
    lowered = negated[rows, first] < affirmative[rows, first]
    others = (~turned, ~plain, plain, lowered, turned & plain)
    of_second = (affirmative > affirmative[rows, second][:, None]).sum(axis=1) < k
    of_first = (affirmative > affirmative[rows, first][:, None]).sum(axis=1) < k
    in_negated = (negated > negated[rows, first][:, None]).sum(axis=1) < k
    return all(other.sum() != turned.sum() for other in others) and of_first.sum() not in (
        of_second.sum(),
        in_negated.sum(),
    )


def several(rng: Random) -> list[Case]:
    return [items(rng, 9, 12, 5), items(rng, 7, 10, 2)]


def edges(rng: Random) -> list[Case]:
    """k = 1; k as large as the vocabulary; a model for which "not" changes nothing."""
    affirmative, negated, first, second, _ = items(rng, 6, 8, 3).arguments
    return [
        items(rng, 8, 9, 1), Case((affirmative, negated, first, second, 8)),
        Case((affirmative, affirmative.copy(), first, second, 3)),
    ]  # fmt: skip


EXERCISE = Exercise(
    probe=plain_function(),
    returns="tuple",
    dtype="float64",
    reference=top_k_and_negation,
    tolerance=NUMBERS,
    parts=(
        values(2, several, hidden=lambda rng: [items(rng, 20, 15, 4)]),
        cases("k, and a model that does not hear", 1, edges, "with k = 1, with a k as large as the vocabulary, or "
            "where \"not\" changes nothing, a fraction is wrong"),
    ),
    forbidden=LIBRARY,
    hints=(
        "Three means of True and False over the items. Each needs the probability of a word in each item.",
        "`affirmative[np.arange(len(affirmative)), target_aff]` takes one column in each row.",
        "A word is among the k most likely ones if fewer than k are likelier. In a negated sentence the *other* word "
        "is the true one.",
    ),
    misconceptions=(
        mistake("one-too-many", "likelier < k", "likelier <= k",
            hint="Your k most likely ones are k + 1. The most likely word has 0 words above it: fewer than k."),
        mistake("not-turned", "negated[item, target_neg] > negated[item, target_aff]",
            "negated[item, target_aff] > negated[item, target_neg]",
            hint="After *not* the other word is the true one: a robin is not a *tree*. You count the item as right "
                 "where the model ignores the *not*."),
        mistake("affirmative-twice", "negated[item, target_neg] > negated[item, target_aff]",
            "affirmative[item, target_neg] > affirmative[item, target_aff]",
            hint="Your third number never reads the negated sentences."),
        mistake("change-is-enough", "negated[item, target_neg] > negated[item, target_aff]",
            "negated[item, target_aff] < affirmative[item, target_aff]",
            hint="You ask whether *not* makes the word less likely. The question is harder: is the true word now the "
                 "likelier of the two?"),
        mistake("other-word-among-k", "affirmative > affirmative[item, target_aff][:, None]",
            "affirmative > affirmative[item, target_neg][:, None]",
            hint="You look for the wrong word among the k most likely ones. Top-k asks for `target_aff`."),
        mistake("both-sentences", "right_negated = negated[item, target_neg] > negated[item, target_aff]",
            "right_negated = right & (negated[item, target_neg] > negated[item, target_aff])",
            hint="You count an item only if both its sentences are right. The two fractions stand for themselves."),
        mistake("counts", "return float(top_k.mean()), float(right.mean()), float(right_negated.mean())",
            "return int(top_k.sum()), int(right.sum()), int(right_negated.sum())",
            hint="These are counts. Fractions of the items are asked for."),
        mistake("mean-of-the-difference", "float(right.mean()), float(right_negated.mean())",
            "float((affirmative[item, target_aff] - affirmative[item, target_neg]).mean()), "
            "float((negated[item, target_neg] - negated[item, target_aff]).mean())",
            hint="You average differences of probabilities, so one sure item outweighs many. Count the items in which "
                 "the right word is the likelier."),
    ),
)  # fmt: skip
