"""The metrics that the benchmarks publish, as fractions: 0.913, where a table of results prints 91.3."""

from collections.abc import Callable, Sequence

import numpy as np

from bertlab.common.errors import DataError
from bertlab.data.tasks.metrics_entities import entity_scores, is_entity_tag
from bertlab.data.tasks.metrics_squad import squad_scores
from bertlab.data.tasks.rows import Row, TaggingRow


def _checked(gold, predicted, kind=None) -> tuple[np.ndarray, np.ndarray]:
    """Both as arrays (N,). Raises DataError unless they have the same, positive length and all labels are known."""
    gold, predicted = np.asarray(gold, kind), np.asarray(predicted, kind)
    if gold.shape != predicted.shape or gold.ndim != 1:
        raise DataError(f"{gold.shape} labels and {predicted.shape} predictions; expected one prediction for each row")
    if not len(gold):
        raise DataError("expected at least one row to evaluate")
    if gold.dtype == object:
        raise DataError(
            "some rows have no label (a test set without published answers?); expected a label for each row"
        )
    return gold, predicted


def accuracy(gold, predicted) -> float:
    """The fraction of rows whose class is right. gold, predicted: (N,) class indices."""
    gold, predicted = _checked(gold, predicted)
    return float(np.mean(gold == predicted))


def f1(gold, predicted, positive: int = 1) -> float:
    """F1 of one class, 2·TP / (2·TP + FP + FN); 0 if neither contains it. gold, predicted: (N,) class indices."""
    gold, predicted = _checked(gold, predicted)
    hits = np.sum((gold == positive) & (predicted == positive))
    claimed_or_there = np.sum(gold == positive) + np.sum(predicted == positive)
    return float(2 * hits / claimed_or_there) if claimed_or_there else 0.0


def macro_f1(gold, predicted) -> float:
    """The unweighted mean of every class's F1, over the classes that occur in gold or predicted."""
    gold, predicted = _checked(gold, predicted)
    return float(np.mean([f1(gold, predicted, label) for label in np.union1d(gold, predicted)]))


def matthews(gold, predicted) -> float:
    """Matthews' correlation for any number of classes (Matthews 1975; Gorodkin 2004 for more than two).

    It is the correlation of the two one-hot matrices; 0 if one of them is constant. gold, predicted: (N,).
    """
    gold, predicted = _checked(gold, predicted)
    classes = np.union1d(gold, predicted)
    truth = (gold[:, None] == classes).astype(np.float64)  # (N, C)
    guess = (predicted[:, None] == classes).astype(np.float64)  # (N, C)
    truth, guess = truth - truth.mean(axis=0), guess - guess.mean(axis=0)
    spread = np.sqrt(np.sum(truth * truth) * np.sum(guess * guess))
    return float(np.sum(truth * guess) / spread) if spread else 0.0


def pearson(gold, predicted) -> float:
    """Pearson's correlation; NaN if one of them is constant (it is not defined then). gold, predicted: (N,)."""
    gold, predicted = _checked(gold, predicted, np.float64)
    if np.ptp(gold) == 0 or np.ptp(predicted) == 0:  # minus its mean, which is rounded, it is not always 0
        return float("nan")
    gold, predicted = gold - gold.mean(), predicted - predicted.mean()
    spread = np.sqrt(np.sum(gold * gold) * np.sum(predicted * predicted))
    return float(np.sum(gold * predicted) / spread) if spread else float("nan")


def spearman(gold, predicted) -> float:
    """Spearman's rank correlation; equal values share the mean of their ranks. gold, predicted: (N,)."""
    gold, predicted = _checked(gold, predicted, np.float64)
    return pearson(_ranks(gold), _ranks(predicted))


def _ranks(values: np.ndarray) -> np.ndarray:
    """The rank of each value from 1, with the mean rank among equals. (N,) → (N,)."""
    _, group, sizes = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(sizes)
    return (last - (sizes - 1) / 2)[group]


def mean_absolute_error(gold, predicted) -> float:
    """The mean distance between right and predicted numbers. gold, predicted: (N,)."""
    gold, predicted = _checked(gold, predicted, np.float64)
    return float(np.mean(np.abs(gold - predicted)))


def root_mean_squared_error(gold, predicted) -> float:
    """The square root of the mean squared distance between right and predicted numbers. gold, predicted: (N,)."""
    gold, predicted = _checked(gold, predicted, np.float64)
    return float(np.sqrt(np.mean((gold - predicted) ** 2)))


METRICS: dict[str, Callable] = {
    metric.__name__: metric
    for metric in (
        accuracy, f1, macro_f1, matthews, pearson, spearman, mean_absolute_error, root_mean_squared_error,
    )
}  # fmt: skip


def multi_label_scores(
    gold: Sequence[tuple[int, ...]], predicted: Sequence[tuple[int, ...]], num_labels: int
) -> dict[str, float]:
    """micro_f1 over all (row, label) pairs, macro_f1 over the labels that occur, exact_match of whole rows.

    gold, predicted: the labels of each row, N tuples of indices below `num_labels`.
    """
    if len(gold) != len(predicted) or not gold:
        raise DataError(f"{len(gold)} rows and {len(predicted)} predictions; expected one for each row, and a row")
    if any(labels is None for labels in gold):
        raise DataError("some rows have no labels; expected labels for each row")
    truth, guess = (label_matrix(rows, num_labels) for rows in (gold, predicted))  # (N, C) each
    hits, sizes = (truth & guess).sum(axis=0), truth.sum(axis=0) + guess.sum(axis=0)  # (C,)
    f1_of_labels = 2 * hits[sizes > 0] / sizes[sizes > 0]
    return {
        "micro_f1": float(2 * hits.sum() / sizes.sum()) if sizes.sum() else 0.0,
        "macro_f1": float(f1_of_labels.mean()) if len(f1_of_labels) else 0.0,
        "exact_match": float((truth == guess).all(axis=1).mean()),
    }


def label_matrix(rows: Sequence[tuple[int, ...]], num_labels: int) -> np.ndarray:
    """Which labels each row has: N tuples of indices → (N, C) bool."""
    matrix = np.zeros((len(rows), num_labels), bool)
    for row, labels in zip(matrix, rows):
        row[list(labels)] = True
    return matrix


def default_metrics(shape: str, labels: Sequence[str], multi_label: bool = False) -> tuple[str, ...]:
    """The metrics of a task that is not part of a benchmark. Of two classes the second is the positive one."""
    if multi_label:
        return ("multi_label",)
    if shape == "question":
        return ("squad",)
    if shape == "tagging":
        return ("entities",) if all(map(is_entity_tag, labels)) else ("tags",)
    if shape in ("sentence", "pair") and not labels:
        return ("pearson", "spearman")
    if shape == "multiple-choice":
        return ("accuracy",)
    return ("accuracy", f"f1:{labels[1]}") if len(labels) == 2 else ("accuracy", "macro_f1")


def score(
    metrics: Sequence[str], rows: Sequence[Row], labels: Sequence[str], predictions, **options
) -> dict[str, float]:
    """The metrics of a task, {name: value}; choose models by the first one.

    metrics: names (`Task.metrics` or `default_metrics`); "f1:LABEL" is the F1 of that class, "f1" that of the second.
    predictions: class indices or numbers (N,), for multi-label N tuples of indices, for tagging a sequence of tag
    indices for each row, for questions {id: text}. options: for questions, `no_answer_scores`.
    """
    figures = {}
    for name in metrics:
        if name == "squad":
            scores = squad_scores({row.id: row.answers for row in rows}, predictions, **options)
            figures |= {"f1": scores.pop("f1"), **scores}
        elif name == "multi_label":
            figures |= multi_label_scores([row.label for row in rows], predictions, len(labels))
        elif name in ("entities", "tags"):
            figures |= _tagging(name, rows, labels, predictions)
        elif name in METRICS:
            figures[name] = METRICS[name]([row.label for row in rows], predictions)
        elif name.startswith("f1:") and name[3:] in labels:
            positive = list(labels).index(name[3:])
            figures[name] = f1([row.label for row in rows], predictions, positive)
        else:
            known = f"{', '.join(METRICS)}, f1:LABEL, multi_label, entities, tags, squad"
            raise DataError(f"there is no metric {name!r}; choose among {known}")
    return figures


def figure_names(metrics: Sequence[str], rows: Sequence, labels: Sequence[str]) -> list[str]:
    """The names of the metrics that `score` returns for labelled rows, in order."""
    if "squad" in metrics:
        right = {row.id: next(iter(row.answers), "") for row in rows}
    else:
        right = [row.tags if isinstance(row, TaggingRow) else row.label for row in rows]
    return list(score(metrics, rows, labels, right))


def _tagging(name: str, rows, labels: Sequence[str], predictions) -> dict[str, float]:
    if any(row.tags is None for row in rows):
        raise DataError("some rows have no tags; expected tags for each row")
    if len(rows) != len(predictions) or any(len(row.tags) != len(tags) for row, tags in zip(rows, predictions)):
        raise DataError("expected one predicted tag for each word of each row")
    if name == "entities":
        gold = [[labels[tag] for tag in row.tags] for row in rows]
        return entity_scores(gold, [[labels[tag] for tag in tags] for tags in predictions])
    return {"accuracy": accuracy(np.concatenate([row.tags for row in rows]), np.concatenate(list(predictions)))}
