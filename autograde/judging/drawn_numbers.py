"""Arrays of numbers that a layer draws: the zeros of dropout, and initial weights."""

import numpy as np

from autograde.judging import binomial_bounds
from autograde.judging.compare import Difference

FEWEST_ROWS, FEWEST_PAIRS = 20, 50  # below these numbers chance explains nearly everything
STRETCH = 400  # as many numbers in a row: chance drops the same ones again once in 10¹⁵ times, for rates of 0.1 to 0.9
LARGEST_CORRELATION = 0.5  # of two tables of one size with numbers of their own
DEVIATIONS = 5  # standard deviations of chance that a spread may be away


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


def initial(claim, answers) -> Difference | None:
    """The spread of each role's initial numbers, and whether no two roles have the same ones."""
    weights, seen = answers[claim["answer"]].value, []
    for role, spread in claim["spreads"].items():
        numbers = weights.get(role) if type(weights) is dict else None
        if type(numbers) is not np.ndarray or numbers.dtype.kind != "f" or numbers.size < 2:
            return Difference("type", f"expected the initial numbers of {role}")
        numbers, of = numbers.astype("float64").ravel(), claim.get("of", {}).get(role, role)
        got, largest = numbers.std(), np.abs(numbers).max()
        if not abs(got / spread - 1) <= DEVIATIONS / (2 * numbers.size) ** 0.5:
            said = f"the initial numbers of {of} have a standard deviation of {got:.4g}; expected about {spread:.4g}"
            if got > spread:
                said += " (a truncated normal distribution has a smaller one than its `stddev`)"
            return Difference("values", said)
        if not largest <= claim["limit"]:
            return Difference("values", f"an initial number of {of} is {largest:.4g}: larger than expected")
        if any(
            abs(np.corrcoef(numbers, other)[0, 1]) > LARGEST_CORRELATION for other in seen if other.size == numbers.size
        ):
            return Difference("values", f"the initial numbers of {of} are those of another table")
        seen.append(numbers)
    return None
