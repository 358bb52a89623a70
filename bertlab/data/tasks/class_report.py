"""The results of a classifier class by class, and whether its confidence can be trusted.

Letters: N predictions, C classes, K bins.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

BINS = 10  # of the reliability diagram: 0 to 0.1, 0.1 to 0.2, …


def confusion_counts(gold: Sequence[int], predicted: Sequence[int], num_classes: int) -> np.ndarray:
    """counts[i, j]: how often class i was predicted as class j. gold, predicted: (N,) indices. Returns (C, C)."""
    counts = np.zeros((num_classes, num_classes), int)
    np.add.at(counts, (np.asarray(gold, int), np.asarray(predicted, int)), 1)
    return counts


@dataclass(frozen=True)
class ClassScores:
    """One class. support: how many have it; predicted: how often it was predicted. Ratios without denominator are 0."""

    label: str
    precision: float
    recall: float
    f1: float
    support: int
    predicted: int


def class_scores(labels: Sequence[str], hits, support, predicted) -> list[ClassScores]:
    """The scores of each class. hits, support, predicted: (C,) right predictions, how many have it, all predictions."""
    return [
        ClassScores(label, _ratio(h, p), _ratio(h, s), _ratio(2 * h, s + p), int(s), int(p))
        for label, h, s, p in zip(labels, hits, support, predicted, strict=True)
    ]


def _ratio(part, whole) -> float:
    return float(part / whole) if whole else 0.0


def averages(scores: Sequence[ClassScores]) -> dict[str, dict[str, float]]:
    """Means of precision, recall and F1 over the classes that occur.

    macro: every class counts the same; weighted: by its support (0 for all where no class occurs).
    """
    present = [one for one in scores if one.support or one.predicted]
    weights = {"macro": [1] * len(present), "weighted": [one.support for one in present]}
    return {
        name: {
            figure: _ratio(sum(w * getattr(one, figure) for w, one in zip(each, present)), sum(each))
            for figure in ("precision", "recall", "f1")
        }
        for name, each in weights.items()
    }


@dataclass(frozen=True)
class Bin:
    """The predictions whose confidence is above `low` and at most `high`. accuracy: the fraction that is right."""

    low: float
    high: float
    count: int
    confidence: float  # the mean
    accuracy: float


@dataclass(frozen=True)
class Calibration:
    """Whether confidence means accuracy. error: the expected calibration error. bins: those that are not empty."""

    error: float
    bins: tuple[Bin, ...]


def calibration(confidences: Sequence[float], right: Sequence[bool]) -> Calibration:
    """The expected calibration error, Σ_k n_k / N · |accuracy_k − confidence_k|, over K bins of equal width.

    confidences, right: (N,), the probability of each prediction and whether it is right.
    Source: Guo et al. 2017, "On Calibration of Modern Neural Networks", section 2.
    """
    confidences, right = np.asarray(confidences, np.float64), np.asarray(right, np.float64)
    edges = np.arange(BINS + 1) / BINS
    bin_indices = np.searchsorted(edges[1:-1], confidences)  # (N,) the bin of each prediction
    found = []
    for number in np.unique(bin_indices):
        inside = bin_indices == number
        low, high = float(edges[number]), float(edges[number + 1])
        mean, hits = float(confidences[inside].mean()), float(right[inside].mean())
        found.append(Bin(low, high, int(inside.sum()), mean, hits))
    error = sum(one.count * abs(one.accuracy - one.confidence) for one in found) / max(len(right), 1)
    return Calibration(float(error), tuple(found))
