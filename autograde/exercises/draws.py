"""Random inputs for the exercises of several notebooks."""

import numpy as np

Random = np.random.Generator


def normal(rng: Random, *shape: int, size: float = 1.0) -> np.ndarray:
    """Standard normal float32 times `size`."""
    return np.asarray(rng.normal(size=shape) * size, dtype="float32")


def with_zeros(x: np.ndarray, row: int = 0) -> np.ndarray:
    """The same with one row of zeros in each matrix: a vector like any other."""
    x[..., row, :] = 0
    return x


def whole_numbers(rng: Random, high: int, *shape: int) -> np.ndarray:
    """int32 below `high`."""
    return rng.integers(0, high, size=shape).astype("int32")


def some_seen(rng: Random, *shape: int) -> np.ndarray:
    """A mask in which every query sees a key and misses one."""
    mask = rng.random(shape) < 0.5
    mask[..., 0], mask[..., -1] = True, False
    return rng.permuted(mask, axis=-1)


def turned(arguments: tuple) -> list:
    """Other arguments of the same types and sizes: the numbers of each array or list are moved on, by other distances.

    Single numbers and texts stay.
    """
    return [_turned(value, number) for number, value in enumerate(arguments, start=1)]


def _turned(value, steps: int):
    if isinstance(value, np.ndarray):
        return np.roll(value, steps)
    if isinstance(value, dict):
        return dict(zip(value, _turned(list(value.values()), steps)))
    if isinstance(value, (list, tuple)):
        holds_more = any(isinstance(item, (np.ndarray, list, tuple, dict)) for item in value)
        moved = (steps + index for index in range(len(value)))
        items = map(_turned, value, moved) if holds_more else np.roll(np.array(value, object), steps)
        return type(value)(items)
    return value


def attention_weights(rng: Random, hidden: int) -> dict[str, np.ndarray]:
    """The weights of multi-head attention, by role."""
    weights = {}
    for name in ("query", "key", "value", "out"):
        weights[f"{name}/kernel"] = normal(rng, hidden, hidden, size=1.5 * hidden**-0.5)
        weights[f"{name}/bias"] = normal(rng, hidden, size=0.5)
    return weights
