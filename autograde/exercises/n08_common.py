"""What the exercises of notebook 08 share."""

import numpy as np

from autograde.exercises.spec import Case

NOTEBOOK = "08_finetuning"
MODULE = "finetuning"
READY_MADE = ("bertlab.layers", "bertlab.models", "bertlab.training", "bertlab.data.tasks", "scipy", "sklearn")
WRITE_IT = "This exercise is about writing it yourself; afterwards you may use either."

Random = np.random.Generator


def normal(rng: Random, *shape: int, size: float = 1.0) -> np.ndarray:
    """Standard normal float32 times `size`."""
    return (rng.normal(size=shape) * size).astype("float32")


def head_case(rng: Random, hidden: np.ndarray, outputs: int, config: dict, *more) -> Case:
    """A call of a layer whose one Dense, `dense`, turns each vector into `outputs` numbers."""
    width = hidden.shape[-1]
    weights = {"dense/kernel": normal(rng, width, outputs), "dense/bias": normal(rng, outputs)}
    return Case((hidden, *more), {}, weights, config)


DENSE = {f"dense/{part}": [f"dense.{part}"] for part in ("kernel", "bias")}
