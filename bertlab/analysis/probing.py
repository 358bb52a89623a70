"""Linear probes with a control task: can a linear map read a property off the vectors, or does it learn it by heart?

A probe is trained on frozen vectors. A high accuracy may come from the probe instead of the vectors; so the same probe
also learns a control task, in which each word type has a random label, and the difference of the two accuracies is the
probe's selectivity (Hewitt and Liang 2019, "Designing and Interpreting Probes with Control Tasks", sections 2 and 3).
The probe here is ridge regression onto one-hot labels, which has a closed form: no steps, no seeds.

Letters: N words, H dimensions of a vector, C classes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bertlab.common.errors import DataError

STRENGTH = 1.0


@dataclass(frozen=True)
class Probe:
    """A linear classifier: argmax over classes of x · kernel + bias.

    kernel: (H, C).   bias: (C,).   classes: (C,) the labels.
    """

    kernel: np.ndarray
    bias: np.ndarray
    classes: np.ndarray

    def predict(self, vectors: np.ndarray) -> np.ndarray:
        """The label of each vector, (N, H) → (N,)."""
        return self.classes[np.argmax(vectors @ self.kernel + self.bias, axis=-1)]

    def accuracy(self, vectors: np.ndarray, labels: Sequence) -> float:
        """The fraction of vectors whose label it predicts."""
        return float(np.mean(self.predict(vectors) == np.asarray(labels)))


@dataclass(frozen=True)
class ProbeScores:
    """Accuracies on held-out words, of the task and of its control task."""

    accuracy: float
    control: float

    @property
    def selectivity(self) -> float:
        """The accuracy of the probe at the task minus that at the control task."""
        return self.accuracy - self.control


def fit_probe(vectors: np.ndarray, labels: Sequence, strength: float = STRENGTH) -> Probe:
    """The probe with the smallest squared error plus `strength` times the squared norm of its kernel.

    vectors: (N, H).   labels: (N,) of any kind.   The bias is not penalised.
    Raises DataError if there is no vector, or not one label for each.

    Example:
        >>> probe = fit_probe(np.array([[0.0, 1.0], [0.0, 2.0], [3.0, 1.0]]), ["a", "a", "b"], strength=0.1)
        >>> probe.predict(np.array([[2.5, 1.0]])).tolist()
        ['b']
    """
    vectors, labels = np.asarray(vectors, "float64"), np.asarray(labels)
    if not len(vectors) or len(vectors) != len(labels):
        raise DataError(f"expected one label for each vector, got {len(vectors)} vectors and {len(labels)} labels")
    classes, numbers = np.unique(labels, return_inverse=True)
    targets = np.eye(len(classes))[numbers]  # (N, C)
    centre, mean = vectors.mean(axis=0), targets.mean(axis=0)
    x = vectors - centre
    kernel = np.linalg.solve(x.T @ x + strength * np.eye(x.shape[1]), x.T @ (targets - mean))  # (H, C)
    return Probe(kernel, mean - centre @ kernel, classes)


def control_labels(words: Sequence[str], labels: Sequence, seed: int = 0) -> dict[str, object]:
    """A random label for each word type, drawn as often as the labels occur (Hewitt and Liang 2019, section 2.1).

    words, labels: of all words, training and held-out ones, so that a type keeps its label.

    Example:
        >>> sorted(control_labels(["a", "dog", "a"], ["DET", "NOUN", "DET"]))
        ['a', 'dog']
    """
    types = sorted(set(words))
    drawn = np.random.default_rng(seed).choice(np.asarray(labels), size=len(types))
    return dict(zip(types, drawn.tolist(), strict=True))


def probe_scores(
    train: tuple[np.ndarray, Sequence[str], Sequence],
    test: tuple[np.ndarray, Sequence[str], Sequence],
    strength: float = STRENGTH,
    seed: int = 0,
) -> ProbeScores:
    """Accuracy and control accuracy of a probe.

    train, test: each vectors (N, H), words (N,) and labels (N,).   seed: of the control task.
    """
    (x, words, labels), (held_out, its_words, its_labels) = train, test
    control = control_labels([*words, *its_words], [*labels, *its_labels], seed)
    of_task = fit_probe(x, labels, strength)
    of_control = fit_probe(x, [control[word] for word in words], strength)
    return ProbeScores(
        of_task.accuracy(held_out, its_labels), of_control.accuracy(held_out, [control[word] for word in its_words])
    )
