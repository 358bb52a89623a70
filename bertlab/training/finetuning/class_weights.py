"""The weights of a task's classes in the loss: given by the recipe, or so that each class counts as much as another."""

import numpy as np

from bertlab.common.errors import ConfigError
from bertlab.data.tasks.rows import TaskData
from bertlab.training.finetuning.settings import Recipe


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
