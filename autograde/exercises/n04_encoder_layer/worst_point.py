"""Where two functions differ most, and by how much."""

import numpy as np

from autograde.exercises.draws import Random, normal
from autograde.exercises.spec import Case, Exercise, mistake, values


def worst_point(x, exact, approximate):
    distance = np.abs(exact - approximate)
    return np.array([x[distance.argmax()], distance.max()])


def two_functions(rng: Random) -> list[Case]:
    """The farthest point lies below the exact function, and not where the function itself is smallest or largest."""
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
        "First the distance at every place, then the place where it is largest.",
        "`ops.argmax` gives the index of the largest; the place is x at that index.",
        "`ops.stack([a, b])` makes a tensor of shape (2,) from two numbers.",
    ),
    misconceptions=(
        mistake("signed", "ops.abs(approximate - exact)", "approximate - exact",
            hint="You look for the largest difference with its sign. Here the approximation is farthest off *below* "
                 "the exact function: a distance has no sign."),
        mistake("index-for-place", "x[worst]", 'ops.cast(worst, "float32")',
            hint="The first number is the index, not the place: x at that index."),
        mistake("relative", "ops.abs(approximate - exact)", "ops.abs(approximate - exact) / ops.abs(exact)",
            hint="You divide the distance by the exact value. A relative error is another question, and near 0 it "
                 "explodes."),
        mistake("squared", "ops.abs(approximate - exact)", "ops.square(approximate - exact)",
            hint="The second number is the distance squared. At the same place, but not a distance."),
        mistake("mean-distance", "distance[worst]]", "ops.mean(distance)]",
            hint="The second number is the mean distance. How far off it is at worst is the largest."),
        mistake("exchanged", "[x[worst], distance[worst]]", "[distance[worst], x[worst]]",
            hint="The two numbers have changed places: first where, then how much."),
    ),
)  # fmt: skip
