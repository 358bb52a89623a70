"""The point at which two functions differ most, and the difference there."""

import numpy as np

from autograde.exercises.draws import Random, normal
from autograde.exercises.spec import Case, Exercise, mistake, values


def worst_point(x, exact, approximate):
    distance = np.abs(exact - approximate)
    return np.array([x[distance.argmax()], distance.max()])


def two_functions(rng: Random) -> list[Case]:
    """The worst point is below the exact function, and not at its minimum or maximum."""
    made = []
    for size in (9, 12):
        x = np.sort(normal(rng, size, size=2))
        exact = 1 + rng.uniform(0, 4, size).astype("float32")
        error = rng.uniform(-0.2, 0.2, size).astype("float32")
        error[int(rng.integers(2, size - 2))] = -rng.uniform(0.5, 0.8)
        made.append(Case((x, exact, exact + error)))
    return made


EXERCISE = Exercise(
    reference=worst_point,
    parts=(
        values(2, two_functions),
    ),
    hints=(
        "First compute the distance at every point, then find the point where it is largest.",
        "`ops.argmax` returns the index of the largest; the point is x at that index.",
        "`ops.stack([a, b])` makes a tensor of shape (2,) from two numbers.",
    ),
    misconceptions=(
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
