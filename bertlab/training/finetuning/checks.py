"""Checks of a task's rows before a training, their fingerprint, and the weights of the classes that they give."""

import hashlib

import numpy as np

from bertlab.common.errors import ConfigError, DataError
from bertlab.data.tasks.rows import TaskData
from bertlab.training.finetuning.settings import Recipe
from bertlab.training.finetuning.task_kinds import Encoded


def digest_rows(task: TaskData) -> str:
    """A fingerprint of all rows."""
    digest = hashlib.sha256()
    for split in (task.train, task.validation, task.test):
        for row in split:
            digest.update(repr(row).encode())
        digest.update(b"--")
    return digest.hexdigest()[:16]


def check_choices(splits: dict[str, Encoded | None]) -> None:
    """Raises DataError where the splits of multiple choice have different numbers of choices."""
    choices = {name: encoded.features.choices for name, encoded in splits.items() if encoded is not None}
    if len(set(choices.values())) > 1:
        listed = ", ".join(f"{count} ({name})" for name, count in choices.items())
        raise DataError(f"rows have {listed} choices; all splits must have the same number")


def class_weights(task: TaskData, recipe: Recipe) -> np.ndarray | None:
    """(C,) float32: the recipe's own, or for "balanced" N / (C · rows of the class), as scikit-learn computes them.

    Raises ConfigError unless there is one for each label, none is negative, not all are 0, and the task has classes.
    """
    asked = recipe.class_weights
    if asked is None:
        return None
    if not task.labels or task.shape == "multiple-choice":
        raise ConfigError(f"{task.name}: expected a task with classes for class_weights; leave them out")
    if asked == "balanced" and task.multi_label:
        raise ConfigError(
            f"{task.name}: expected one number per label for class_weights where rows have several labels"
        )
    if asked == "balanced":
        rows = [row.tags for row in task.train] if task.shape == "tagging" else [[row.label] for row in task.train]
        counts = np.bincount(np.concatenate(rows).astype(int), minlength=len(task.labels))
        return (counts.sum() / (len(counts) * np.maximum(counts, 1))).astype("float32")
    if len(asked) != len(task.labels):
        raise ConfigError(
            f"expected {len(task.labels)} class_weights, one for each of {', '.join(task.labels)}; got {len(asked)}"
        )
    if not (np.all(np.isfinite(asked)) and min(asked) >= 0 < max(asked)):
        raise ConfigError(f"`class_weights` must be non-negative and not all zero; got {asked}")
    return np.array(asked, "float32")
