"""Spearman's rank correlation; equal values get the mean of their ranks."""

import numpy as np

from autograde.exercises.n08_finetuning._shared import EXACTLY, READY_MADE
from autograde.exercises.writing import Case, Exercise, Random, cases, mistake, plain_function, values


def mean_ranks(numbers):
    """The rank of each number, from 1; equal numbers get the mean of their ranks."""
    ordered = sorted(numbers)
    return np.array([ordered.index(x) + (ordered.count(x) + 1) / 2 for x in numbers])


def spearman(gold, predicted):
    a, b = (ranks - ranks.mean() for ranks in (mean_ranks(gold), mean_ranks(predicted)))
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def numbers(rng: Random) -> list[Case]:
    """Similarities from 0 to 5 without ties, and predictions with a loose, nonlinear relation to them."""
    found = []
    for length in (6, 9):
        gold = rng.permutation(np.linspace(0.2, 5, length))
        guess = np.exp(0.8 * gold) + rng.normal(size=length) * 4
        found.append(Case(([round(float(x), 2) for x in gold], [round(float(x), 3) for x in guess])))
    return found


def other_numbers(rng: Random) -> list[Case]:
    """Two examples; negative and whole numbers; the exact opposite order; numbers that are close, tiny and huge.

    The closest differ in the last bit only.
    """
    gold = [float(x) for x in rng.permutation(np.arange(-4, 5))]
    close, order = 2 + np.array([0, 3, 1, 2, 4]) * 1e-7, rng.permutation(5)
    return [
        Case(([float(x) for x in close], [float(x) for x in rng.permutation(5)])),
        Case(([float(x) for x in (close - 2)[order]], [float(x) for x in np.array([1e12, -3, 5e-9, 7, 1e9])])),
        Case(([1 + k * 2.0**-52 for k in (0, 3, 1, 2, 4)], [float(x) for x in rng.permutation(5)])),
        Case(([2.0, 1.0], [0.5, 7.0])), Case((gold, [-(x**3) for x in gold])), Case(([3, 1, 2, 5], [10, -2, 8, 9])),
    ]  # fmt: skip


def more_numbers(rng: Random) -> list[Case]:
    gold = [float(x) for x in rng.permutation(60) / 7]
    return [Case((gold, [float(x) for x in np.array(gold) + rng.normal(size=60) * 3]))]


def more_ties(rng: Random) -> list[Case]:
    """Many examples, half of them with ties."""
    gold = [float(x) for x in rng.normal(size=60)]
    return [Case((gold, [round(x + float(rng.normal()), 1) for x in gold]))]


def numbers_with_ties(rng: Random) -> list[Case]:
    """STS-B's scores are means of a few annotators' scores: many examples have the same."""
    found = []
    for length in (7, 10):
        gold = [float(x) for x in rng.permutation([0, 1, 1, 2, 4, 4, 4, 5, 5, 3][:length])]
        guess = [float(round(x / 2 + rng.normal())) for x in gold]
        guess[0], guess[-1] = 9.0, -9.0  # never constant
        found.append(Case((gold, guess)))
    only_gold, all_but_one = [1.0, 1.0, 2.0, 2.0, 3.0], [4.0, 4.0, 4.0, 4.0, 1.0]
    found.append(Case((only_gold, [float(x) for x in rng.permutation(5)])))  # ties on one side only
    zeros = [0.0, -0.0, 2.0, -1.0, 1, 1.0]  # 0.0 == -0.0 and 1 == 1.0, though they are written differently
    return [
        *found, Case(([float(x) for x in rng.permutation(5)], all_but_one)),
        Case((zeros, [float(x) for x in rng.permutation(6)])),
    ]  # fmt: skip


EXERCISE = Exercise(
    probe=plain_function(),
    reference=spearman,
    returns="anything",
    tolerance=EXACTLY,
    parts=(
        values(2, lambda rng: numbers(rng) + other_numbers(rng), hidden=more_numbers),
        cases("ties", 1, numbers_with_ties, "equal values must get the mean of their ranks", more_ties),
    ),
    forbidden=READY_MADE,
    hints=(
        "Two steps: from values to ranks, for both; then Pearson's correlation of the ranks.",
        "The rank of a value: how many are smaller, plus 1. Equal values take adjacent ranks and get their mean.",
        "With s smaller values and e equal ones (itself included) the mean rank is s + (e + 1) / 2.",
    ),
    misconceptions=(
        mistake("rounded-to-float32", "np.asarray(values)", 'np.asarray(values, "float32")',
            hint="You round the numbers to float32, in which close numbers become equal. Compare them as they are."),
        mistake("pearson", "ranks(gold), ranks(predicted)", "gold, predicted",
            hint="This is Pearson's correlation of the values themselves. Spearman's is that of their ranks."),
        mistake("order-for-ranks", "return smaller + (equal + 1) / 2", "return np.argsort(values)",
            hint="argsort returns *which* value comes first, second, third. A rank is the position of a value in "
                 "the order: the inverse."),
        mistake("ties-by-order",
            "return smaller + (equal + 1) / 2", "return np.argsort(np.argsort(values, kind='stable'))",
            hint="Right without ties. Among equal values the earlier one gets the lower rank, so the order of the "
                 "examples matters. Equal values get the mean of their ranks."),
        mistake("ties-share-the-lowest", "return smaller + (equal + 1) / 2", "return smaller + 1",
            hint="Right without ties. Equal values all get the lowest of their ranks in your version; give them the "
                 "mean."),
        mistake("dense-ranks",
            "return smaller + (equal + 1) / 2", "return np.unique(values, return_inverse=True)[1]",
            hint="Right without ties. In your version several equal values use up a single rank: how many ranks do "
                 "they take in the order, and what is the mean of these?"),
        mistake("short-formula", "return float(np.corrcoef(ranks(gold), ranks(predicted))[0, 1])",
            "n = len(gold)\n"
            "    d = ranks(np.asarray(gold)) - ranks(np.asarray(predicted))\n"
            "    return float(1 - 6 * np.sum(d**2) / (n * (n**2 - 1)))",
            hint="1 − 6 Σ d² / (n (n² − 1)) is only valid without ties. Use Pearson's correlation of the ranks."),
    ),
)  # fmt: skip
