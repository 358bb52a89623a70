"""Two metrics for two classes."""

import numpy as np

from autograde.exercises.n08_finetuning._shared import EXACTLY, READY_MADE
from autograde.exercises.writing import (
    Case,
    Exercise,
    Forbidden,
    Random,
    cases,
    composed,
    mistake,
    plain_function,
    repeated,
    values,
)

_TWELVE = [1] * 4 + [0, 0, 1] + [0] * 5, [1] * 4 + [1, 1, 0] + [0] * 5  # the gold and the predicted classes


def f1_and_matthews(gold, predicted):
    """F1 as the harmonic mean of precision and recall; Matthews as the correlation of two rows of 0 and 1."""
    gold, predicted = np.array(gold, "float64"), np.array(predicted, "float64")
    hits = float(gold @ predicted)
    f1 = 2 / (predicted.sum() / hits + gold.sum() / hits) if hits else 0.0
    deviations = gold - gold.mean(), predicted - predicted.mean()
    spread = np.sqrt(np.sum(deviations[0] ** 2) * np.sum(deviations[1] ** 2))
    return float(f1), float(deviations[0] @ deviations[1] / spread) if spread > 1e-9 else 0.0


def _rows(rng: Random, tp: int, fp: int, fn: int, tn: int) -> Case:
    """Rows of 0 and 1 with these counts, in random order."""
    gold, predicted = [1] * tp + [0] * fp + [1] * fn + [0] * tn, [1] * tp + [1] * fp + [0] * fn + [0] * tn
    order = rng.permutation(len(gold))
    return Case(([gold[i] for i in order], [predicted[i] for i in order]))


def two_classes(rng: Random) -> list[Case]:
    """All four counts are positive and different."""
    counts = [(int(c) for c in rng.choice(np.arange(1, 9), 4, replace=False)) for _ in range(3)]
    return [_rows(rng, *four) for four in counts]


def unusual_rows(rng: Random) -> list[Case]:
    """One example; perfect predictions, their opposite, worse than chance, predictions without any information; one
    count of 0; thousands of examples, for which the product of the four sums is too large for 32 bits."""
    return [
        Case(([1], [0])), _rows(rng, 3, 0, 0, 4), _rows(rng, 0, 3, 2, 0), _rows(rng, 1, 4, 3, 2),
        _rows(rng, 2, 2, 2, 2), _rows(rng, 2, 0, 3, 4), _rows(rng, 2, 3, 0, 4),
        _rows(rng, 0, 3, 2, 4), _rows(rng, 3, 2, 4, 0),
        Case(tuple(row * 200 for row in _TWELVE)),
    ]  # fmt: skip


def a_hundred_thousand(rng: Random) -> list[Case]:
    """So many examples that the product of the four sums is too large for 64 bits."""
    return [composed(("f1-matthews", Case(tuple(repeated(row, 10_000) for row in _TWELVE))))]


def thousands(rng: Random) -> list[Case]:
    return [_rows(rng, 700, 300, 200, 800)]


def one_sided(rng: Random) -> list[Case]:
    """Each of the four sums of Matthews' root is 0 once; F1's denominator is 0 once."""
    many, few = int(rng.integers(4, 9)), int(rng.integers(1, 4))
    return [
        _rows(rng, 0, 0, 0, many), _rows(rng, many, few, 0, 0), _rows(rng, 0, few, 0, many),
        _rows(rng, 0, 0, few, many), _rows(rng, many, 0, few, 0), _rows(rng, many, 0, 0, 0),
    ]  # fmt: skip


EXERCISE = Exercise(
    probe=plain_function(),
    reference=f1_and_matthews,
    returns="anything",
    tolerance=EXACTLY,
    parts=(
        values(1.5, lambda rng: two_classes(rng) + unusual_rows(rng), hidden=thousands),
        cases("denominators of 0", 1, one_sided,
            "where a metric's denominator is 0, this metric must be 0.0, and the other one as usual"),
        cases("many examples", 0.5, a_hundred_thousand,
            "with 120,000 examples a metric is wrong: does the product of the four sums fit into 64 bits?"),
    ),
    forbidden=Forbidden(READY_MADE.because, (*READY_MADE.names, "keras.metrics")),
    hints=(
        "Count the four kinds of examples first: right and wrong, for class 1 and for class 0.",
        "F1 uses three of the four counts; the true negatives have no effect on it. Matthews uses all four.",
        "Before each division: is the denominator 0? Then the metric is 0.0. Return the two metrics in a tuple.",
    ),
    misconceptions=(
        mistake("f1-of-the-other-class",
            "2 * tp / (2 * tp + fp + fn) if tp + fp + fn", "2 * tn / (2 * tn + fp + fn) if tn + fp + fn",
            hint="Your F1 is that of class 0. The positive class is 1."),
        mistake("accuracy", "2 * tp / (2 * tp + fp + fn) if tp + fp + fn else 0.0", "(tp + tn) / len(pairs)",
            hint="Your first number is accuracy: it counts the true negatives. F1 leaves them out."),
        mistake("mean-of-precision-and-recall", "f1 = 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else 0.0",
            "f1 = (tp / (tp + fp) + tp / (tp + fn)) / 2 if tp else 0.0",
            hint="You average precision and recall. F1 is their *harmonic* mean, 2TP / (2TP + FP + FN): the smaller "
                 "one dominates."),
        mistake("no-root", "(tn + fn)) ** 0.5", "(tn + fn))",
            hint="You divide by the product of the four sums. Matthews divides by its square root."),
        mistake("only-hits", "(tp * tn - fp * fn)", "(tp * tn)",
            hint="The numerator of Matthews lacks −FP·FN. Without it random predictions get well above 0."),
        mistake("product-of-64-bits",
            "((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)) ** 0.5",
            "float(np.sqrt(np.prod(np.array([tp + fp, tp + fn, tn + fp, tn + fn], 'int64'))))",
            hint="Right for few examples. The product of the four sums grows with n⁴: with 120,000 examples it is "
                 "above 2⁶³ and overflows NumPy's 64-bit integers. Python's `int` has no limit; or convert the sums to "
                 "`float` before you multiply."),
        mistake("both-are-zero",
            "    spread = ", "    if not tp:\n        return 0.0, 0.0\n    spread = ",
            hint="Without a true positive you return 0.0 twice. Only F1 is 0 then; Matthews has a denominator of its "
                 "own."),
        mistake("divided-by-zero",
            " if tp + fp + fn else 0.0", "",
            " if spread else 0.0", "",
            hint="Right if all four counts are positive. With a class that never occurs or is never predicted a "
                 "denominator is 0: then the metric is 0.0 by convention."),
    ),
)  # fmt: skip
