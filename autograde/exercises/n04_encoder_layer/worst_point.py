"""The point at which two functions differ most, and the difference there."""

import numpy as np

from autograde.exercises.draws import Random
from autograde.exercises.spec import Case, Exercise, mistake, values


def worst_point(x, exact, approximate):
    distance = np.abs(exact - approximate)
    return np.array([x[distance.argmax()], distance.max()])


def two_functions(rng: Random) -> list[Case]:
    """The worst point is below or above the exact function, left or right of 0, at the first, last or another point.

    Once the two functions have different signs there.
    """
    made = [functions(rng, size, index, sign) for size, index, sign in ((9, 2, -1), (12, 9, -1), (7, 0, 1), (6, 5, 1))]
    return [*made, functions(rng, 1, 0, -1), in_any_order(rng, functions(rng, 300, 200, 1)), across_zero(rng, 8, 3)]


def across_zero(rng: Random, size: int, index: int) -> Case:
    """At the worst point one function is as far above 0 as the other is below it."""
    x, exact, approximate = functions(rng, size, index, 1).arguments
    exact[index], approximate[index] = rng.choice([[-0.5, 0.5], [0.5, -0.5]])
    return Case((x, exact, approximate))


def in_any_order(rng: Random, case: Case) -> Case:
    """The same points in random order, with negative values of the functions."""
    x, exact, approximate = case.arguments
    order = rng.permutation(len(x))
    return Case((x[order], -exact[order], -approximate[order]))


def functions(rng: Random, size: int, index: int, sign: int) -> Case:
    """The worst point is at `index`; relative to the function's value, its neighbour has the larger difference."""
    x = (np.sort(rng.uniform(-3, 3, size)) + (np.arange(size) - size / 2)).astype("float32")
    exact = 1 + rng.uniform(0, 4, size).astype("float32")
    error = rng.uniform(-0.2, 0.2, size).astype("float32")
    exact[index - 1], error[index - 1] = 1, 0.2
    exact[index], error[index] = 5, sign * rng.uniform(0.5, 0.8)
    return Case((x, exact, exact + error))


def other_sizes(rng: Random) -> list[Case]:
    sizes = rng.integers(2, 60, size=4)
    made = [functions(rng, int(n), int(rng.integers(0, n)), int(rng.choice([-1, 1]))) for n in sizes]
    return [*made, *(in_any_order(rng, case) for case in made[:2])]


EXERCISE = Exercise(
    reference=worst_point,
    parts=(
        values(2, two_functions, hidden=other_sizes),
    ),
    hints=(
        "First compute the distance at every point, then find the point where it is largest.",
        "`ops.argmax` returns the index of the largest; the point is x at that index.",
        "`ops.stack([a, b])` makes a tensor of shape (2,) from two numbers.",
    ),
    misconceptions=(
        mistake("sign-kept", "distance[worst]", "(approximate - exact)[worst]",
            hint="You find the right place, but your difference there still has its sign. A distance is its absolute "
                 "value."),
        mistake("signed", "ops.abs(approximate - exact)", "approximate - exact",
            hint="You look for the largest difference with its sign. Here the approximation is farthest *below* the "
                 "exact function: use the absolute difference."),
        mistake("index-for-place", "x[worst]", 'ops.cast(worst, "float32")',
            hint="The first number is the index, not the point: return x at that index."),
        mistake("relative", "ops.abs(approximate - exact)", "ops.abs(approximate - exact) / ops.abs(exact)",
            hint="You divide the distance by the exact value. A relative error is a different question, and near 0 "
                 "it explodes."),
        mistake("squared", "ops.abs(approximate - exact)", "ops.square(approximate - exact)",
            hint="The second number is the squared distance. Return the distance."),
        mistake("mean-distance", "distance[worst]]", "ops.mean(distance)]",
            hint="The second number is the mean distance. Return the largest."),
        mistake("exchanged", "[x[worst], distance[worst]]", "[distance[worst], x[worst]]",
            hint="You swapped the two numbers: first the point, then the distance."),
    ),
)  # fmt: skip
