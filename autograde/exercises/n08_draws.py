"""Inputs and references of exercises 8.1 to 8.4, in NumPy and plain Python."""

import numpy as np

from autograde.exercises.n08_common import Random, head_case, normal
from autograde.exercises.spec import Case, Same, Slopes, Trial

# --- references ---


def f1_and_matthews(gold, predicted):
    """F1 as the harmonic mean of precision and recall; Matthews as the correlation of two rows of 0 and 1."""
    gold, predicted = np.array(gold, "float64"), np.array(predicted, "float64")
    hits = float(gold @ predicted)
    f1 = 2 / (predicted.sum() / hits + gold.sum() / hits) if hits else 0.0
    deviations = gold - gold.mean(), predicted - predicted.mean()
    spread = np.sqrt(np.sum(deviations[0] ** 2) * np.sum(deviations[1] ** 2))
    return float(f1), float(deviations[0] @ deviations[1] / spread) if spread > 1e-9 else 0.0


def mean_ranks(numbers):
    """The place of each number in order, from 1; equal numbers share the mean of their places."""
    ordered = sorted(numbers)
    return np.array([ordered.index(x) + (ordered.count(x) + 1) / 2 for x in numbers])


def spearman(gold, predicted):
    a, b = (ranks - ranks.mean() for ranks in (mean_ranks(gold), mean_ranks(predicted)))
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


# --- 8.1 a head on [CLS] ---


def texts(rng: Random) -> list[Case]:
    return [
        head_case(rng, normal(rng, 4, 3, 6), 5, {"num_labels": 5}),
        head_case(rng, normal(rng, 3, 3, 3), 3, {"num_labels": 3}),
    ]


def only_cls_changes(rng: Random) -> list[Trial]:
    """The same [CLS] vectors among other tokens give the same logits."""
    case = head_case(rng, normal(rng, 3, 5, 4), 2, {"num_labels": 2})
    other = normal(rng, 3, 5, 4)
    other[:, 0] = case.arguments[0][:, 0]
    pair = (case, Case((other,), {}, case.weights, case.config))
    return [Trial(pair, (Same((0, -2, (0, 1, 2)), (1, -2, (0, 1, 2))),))]


def slopes_of_head(rng: Random) -> list[Trial]:
    case = head_case(rng, normal(rng, 4, 3, 6), 5, {"num_labels": 5})
    directions = {role: normal(rng, *weight.shape) for role, weight in case.weights.items()}
    return [Trial((case,), (Slopes(normal(rng, 4, 5), directions),))]


# --- 8.2 F1 and Matthews ---


def _rows(rng: Random, tp: int, fp: int, fn: int, tn: int) -> Case:
    """Rows of 0 and 1 with these counts, in random order."""
    gold, predicted = [1] * tp + [0] * fp + [1] * fn + [0] * tn, [1] * tp + [1] * fp + [0] * fn + [0] * tn
    order = rng.permutation(len(gold))
    return Case(([gold[i] for i in order], [predicted[i] for i in order]))


def two_classes(rng: Random) -> list[Case]:
    """All four counts are there and none is like another."""
    counts = [(int(c) for c in rng.choice(np.arange(1, 9), 4, replace=False)) for _ in range(3)]
    return [_rows(rng, *four) for four in counts]


def one_sided(rng: Random) -> list[Case]:
    many, few = int(rng.integers(4, 9)), int(rng.integers(1, 4))
    return [_rows(rng, 0, 0, 0, many), _rows(rng, many, few, 0, 0), _rows(rng, 0, few, 0, many)]


# --- 8.3 multiple choice ---


def choices(rng: Random) -> list[Case]:
    """Questions × choices: 2 × 4, and 3 × 3, where folding the wrong way round has the right shape."""
    return [
        Case((normal(rng, 8, 3, 5), normal(rng, 5), 4)),
        Case((normal(rng, 9, 4, 6), normal(rng, 6), 3)),
    ]


def each_question_alone(rng: Random) -> list[Trial]:
    hidden, v = normal(rng, 12, 3, 5), normal(rng, 5)
    second = Case((hidden[3:6], v, 3))
    return [Trial((Case((hidden, v, 3)), second), (Same((0, -2, (1,)), (1, -2, (0,))),))]


# --- 8.4 Spearman ---


def numbers(rng: Random) -> list[Case]:
    """Similarities from 0 to 5 without ties, and guesses that follow them loosely, not in a straight line."""
    found = []
    for length in (6, 9):
        gold = rng.permutation(np.linspace(0.2, 5, length))
        guess = np.exp(0.8 * gold) + rng.normal(size=length) * 4
        found.append(Case(([round(float(x), 2) for x in gold], [round(float(x), 3) for x in guess])))
    return found


def numbers_with_ties(rng: Random) -> list[Case]:
    """STS-B's scores are means of few people's marks: many rows have the same."""
    found = []
    for length in (7, 10):
        gold = [float(x) for x in rng.permutation([0, 1, 1, 2, 4, 4, 4, 5, 5, 3][:length])]
        guess = [float(round(x / 2 + rng.normal())) for x in gold]
        guess[0], guess[-1] = 9.0, -9.0  # never constant
        found.append(Case((gold, guess)))
    return found
