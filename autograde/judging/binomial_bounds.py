"""Exact bounds for counts of random events: outside of them a result is not an accident.

A random function has no expected value to compare with, but the *number* of times that an event happens in n
independent tries has a known distribution: binomial, P(K = k) = C(n, k) pᵏ (1 − p)ⁿ⁻ᵏ. `bounds` returns the range that
a right function leaves with a probability of at most `false_alarm`. The probabilities of the counts outside are added
up term by term, each from its logarithm, so they are also right where a normal approximation is not.

    bounds(1500, 0.8, 1e-9)     (1103, 1291)
"""

from functools import cache
from itertools import accumulate
from math import exp, lgamma, log

FALSE_ALARM = 1e-9  # of one claim about one right answer; all claims of an exercise together stay below 1e-6


def log_probabilities(n: int, p: float) -> list[float]:
    """log P(K = k) for k = 0 … n, for 0 < p < 1."""
    all_ways = lgamma(n + 1)
    return [all_ways - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) + (n - k) * log(1 - p) for k in range(n + 1)]


@cache
def bounds(n: int, p: float, false_alarm: float = FALSE_ALARM) -> tuple[int, int]:
    """The narrowest (lowest, highest) with P(K < lowest) and P(K > highest) at most half of `false_alarm` each."""
    if p <= 0 or p >= 1:
        certain = 0 if p <= 0 else n
        return certain, certain
    probabilities = [exp(value) for value in log_probabilities(n, p)]
    below = sum(tail <= false_alarm / 2 for tail in accumulate(probabilities))
    above = sum(tail <= false_alarm / 2 for tail in accumulate(reversed(probabilities)))
    return below, n - above
