"""The zeros of dropout: whether each number is drawn by itself."""

import numpy as np

from autograde.judging import binomial_bounds

FEWEST_ROWS, FEWEST_PAIRS = 20, 50  # below these numbers chance explains nearly everything
STRETCH = 400  # as many numbers in a row: chance drops the same ones again once in 10¹⁵ times, for rates of 0.1 to 0.9


def drawn_together(zero: np.ndarray, rate: float) -> str:
    """A sentence if zeros repeat or depend on each other along an axis, more than chance does once in 10⁹ times."""
    for axis, size in enumerate(zero.shape):
        rows = np.moveaxis(zero, axis, -1).reshape(-1, size)
        if size == 1 or len(rows) == 1 and size < FEWEST_PAIRS:
            continue
        alike = rows.all(axis=1) | ~rows.any(axis=1)
        if alike.sum() > binomial_bounds.bounds(alike.size, rate**size + (1 - rate) ** size)[1]:
            return "numbers are dropped together; expected that each number is drawn by itself"
        pairs = rows[:, : size // 2 * 2].reshape(-1, 2)  # neighbours; no number is in two pairs
        equal = int((pairs[:, 0] == pairs[:, 1]).sum())
        lowest, highest = binomial_bounds.bounds(len(pairs), rate**2 + (1 - rate) ** 2)
        if len(pairs) >= FEWEST_PAIRS and not lowest <= equal <= highest:
            return "neighbouring numbers depend on each other; expected that each number is drawn by itself"
        if len(rows) >= FEWEST_ROWS and size >= FEWEST_ROWS and np.ptp(rows.sum(axis=1)) == 0:
            return "all rows have the same number of zeros; expected that each number is drawn by itself"
    dropped = zero.tobytes()
    later = dropped.find(dropped[:STRETCH], 1) if zero.size > STRETCH else -1
    if later > 0:
        return f"the zeros repeat after {later} numbers; expected that each number is drawn by itself"
    return ""


def only_whole_rows(zero: np.ndarray) -> bool:
    """Whether along some axis of many numbers always all or none are 0, and both occur."""
    along = (axis for axis, size in enumerate(zero.shape) if size > 7)
    return bool(zero.any() and not zero.all()) and any(
        (zero.all(axis=axis) | ~zero.any(axis=axis)).all() for axis in along
    )
