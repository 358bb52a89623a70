"""The largest number of rows for which something holds, by doubling and bisection.

Part of `benchmarks.accelerators`.
"""

from collections.abc import Callable

CLOSE = 1 / 16  # of the number found: how far away the true one may be


def largest_rows(fits: Callable[[int], bool], first: int) -> int:
    """The most rows that fit, within a sixteenth of them; 0 if not even one does. first: where to begin.

    Example:
        >>> largest_rows(lambda rows: rows <= 100, 32)
        96
    """
    low, high = 0, first
    while fits(high):
        low, high = high, 2 * high
    while high - low > max(1, CLOSE * low):
        middle = _round((low + high) // 2)
        middle = middle if low < middle < high else (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _round(rows: int) -> int:
    """The next lower multiple of 8: batches have such sizes."""
    return rows // 8 * 8
