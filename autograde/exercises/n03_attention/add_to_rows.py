"""Adds one vector to each row of a matrix."""

import numpy as np

from autograde.exercises.draws import Random, normal, with_zeros
from autograde.exercises.spec import Case, Exercise, cases, mistake, values


def rows_and_vectors(rng: Random) -> list[Case]:
    example = Case((np.array([[1, 2], [3, 4], [5, 6]], "float32"), np.array([10, 20], "float32")))
    shapes = ((4, 4), (2, 5), (70, 3), (3, 1), (1, 4))
    return [example, *(Case((with_zeros(normal(rng, *shape)), normal(rng, shape[-1]))) for shape in shapes)]


def batches_and_vectors(rng: Random) -> list[Case]:
    shapes = ((2, 3, 4), (2, 2, 3, 5), (4, 4, 4), (1, 2, 3), (3, 1, 2), (2, 1, 2, 3, 3))
    return [Case((normal(rng, *shape), normal(rng, shape[-1]))) for shape in shapes]


def other_shapes(rng: Random) -> list[Case]:
    m, n = (int(size) for size in rng.integers(1, 12, size=2))
    return [Case((normal(rng, *shape), normal(rng, n))) for shape in ((m, n), (1, m, n), (2, 1, 2, m, n), (n, n, n))]


EXERCISE = Exercise(
    reference=lambda x, b: x + np.ones(x.shape[:-1])[..., None] * b,
    parts=(
        values(1, rows_and_vectors),
        cases("axes in front", 1, batches_and_vectors,
            "with a batch in front of the matrix the result is wrong", other_shapes),
    ),
    hints=(
        "b has one number per column. Every row gets the whole of b.",
        "Sizes are aligned from the right: (m, n) and (n,) match as they are.",
        "You need not repeat anything: the plus sign broadcasts.",
    ),
    misconceptions=(
        mistake("added-to-columns", "x + b", "x + ops.expand_dims(b, -1)",
            hint="You made b a column, so it is added to every column. A row of x has as many numbers as b: do not "
                 "reshape b."),
        mistake("appended", "x + b", "ops.concatenate([x, ops.expand_dims(b, 0)], axis=0)",
            hint="You appended b to x as one more row. Here b is added to each existing row, element by element."),
        mistake("multiplied", "x + b", "x * b",
            hint="You multiplied by b. That is a scale (γ in LayerNorm, notebook 04); a bias is added."),
    ),
)  # fmt: skip
