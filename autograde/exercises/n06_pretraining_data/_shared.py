"""Inputs and helpers shared by the exercises of notebook 06."""

from itertools import combinations
from math import comb

import numpy as np

from autograde.exercises.writing import Case, Forbidden, Obeys, OwnLists, Random, Rates, Trial

LIBRARY = Forbidden("In this exercise you write it yourself; afterwards you may use the library's version.")
CLS, SEP, PAD, MASK, UNK = 101, 102, 0, 103, 100  # as in BERT's published vocabulary
OTHER_CLS, OTHER_SEP, OTHER_PAD, OTHER_MASK = 2, 3, 1, 4  # as in another vocabulary
CALLS = 1009  # a prime: what comes round after a few calls does not come round after all of them


def seeds(rng: Random, calls: int = CALLS) -> tuple[int, ...]:
    """Different seeds, and the first one again: then a function that counts its own calls differs."""
    drawn = [int(seed) for seed in rng.choice(2**20, calls, replace=False)]
    return (*drawn, drawn[0])


def obeying(rng: Random, rule: str, *arguments, calls: int = 61, note: str = "") -> Trial:
    """Calls whose results obey a rule."""
    return Trial((Case(arguments, seeds=seeds(rng, calls), note=note),), (Obeys(rule),))


def chancy(rng: Random, rule: str, rates: dict, *arguments, calls: int = CALLS) -> Trial:
    """Many calls in which events must have the right frequency."""
    return Trial((Case(arguments, seeds=seeds(rng, calls)),), (Rates(rule, rates),))


def tokens(rng: Random, count: int) -> list[int]:
    """Different ids of regular tokens."""
    return [int(token) for token in rng.choice(np.arange(1000, 2000), count, replace=False)]


def own_lists(rng: Random, *arguments) -> Trial:
    """The result shares no list with the arguments."""
    return Trial((Case(arguments, seeds=seeds(rng, 1)),), (OwnLists(),))


def pair_rates(name: str, positions, probability: float) -> dict:
    """The event that two of these happen together, for every two."""
    return {f"{name} {one} and {other}": (1, probability) for one, other in combinations(positions, 2)}


def mostly_in_front(n: int, chosen: int) -> float:
    """The probability that more than half of `chosen` of n things are among the first n // 2, if all choices are alike.

    Of many things, since a shuffle that prefers some of them shows in the sum of all.
    """
    front = n // 2
    ways = (comb(front, k) * comb(n - front, chosen - k) for k in range(chosen // 2 + 1, chosen + 1))
    return sum(ways) / comb(n, chosen)


def with_neighbours(n: int, chosen: int) -> float:
    """The probability that at least two of `chosen` of n things in a row are neighbours, if all choices are alike."""
    return 1 - comb(n - chosen + 1, chosen) / comb(n, chosen)


def binomial(n: int, k: int, p: float) -> float:
    return comb(n, k) * p**k * (1 - p) ** (n - k)
