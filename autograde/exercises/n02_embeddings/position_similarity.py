"""The cosine of the angle between each row and each row."""

import numpy as np

from autograde.exercises.draws import Random, normal
from autograde.exercises.spec import Case, Exercise, Part, Reference, Same, Trial, mistake, values


def cosines(x):
    lengths = np.linalg.norm(x, axis=-1)
    return x @ np.swapaxes(x, -1, -2) / (lengths[..., :, None] * lengths[..., None, :])


def rows_of_vectors(rng: Random) -> list[Case]:
    return [Case((normal(rng, 4, 6),)), Case((normal(rng, 2, 3, 3),))]


def lengths_do_not_matter(rng: Random) -> list[Trial]:
    """Each vector made longer or shorter by a factor of its own: the angles stay."""
    x, factors = normal(rng, 5, 4), rng.uniform(0.2, 5, size=(5, 1)).astype("float32")
    everyone = tuple(range(5))
    return [Trial((Case((x,)), Case((x * factors,))), (Reference(0), Same((1, -2, everyone), (0, -2, everyone))))]


EXERCISE = Exercise(
    reference=cosines,
    parts=(
        values(2, rows_of_vectors),
        Part("length does not matter", 1, lengths_do_not_matter,
            "a vector made longer points the same way: its cosines must not change"),
    ),
    hints=(
        "The cosine of two vectors is their dot product once both have length 1.",
        "The length of a row is the root of the sum of its squares: one number per row, with `keepdims=True`.",
        "Every row against every row at once: the matrix of unit rows times its own transpose.",
    ),
    misconceptions=(
        mistake("dot-products", "unit = x / lengths", "unit = x",
            hint="These are plain dot products: a long vector looks similar to everybody. Divide every row by its "
                 "length first."),
        mistake("unit-columns", "axis=-1, keepdims=True", "axis=-2, keepdims=True",
            hint="You brought the columns to length 1. A vector is a row: sum its squares over the last axis."),
        mistake("squared-lengths", "ops.sqrt(ops.sum(ops.square(x), axis=-1, keepdims=True))",
            "ops.sum(ops.square(x), axis=-1, keepdims=True)",
            hint="You divide by the sum of squares; the length is its root. Your own diagonal shows it: a vector and "
                 "itself must give 1."),
        mistake("one-length-for-all", "ops.sum(ops.square(x), axis=-1, keepdims=True)", "ops.sum(ops.square(x))",
            hint="You divide by the length of the whole matrix. Each row has a length of its own."),
        mistake("columns-compared",
            "ops.matmul(unit, ops.swapaxes(unit, -1, -2))", "ops.matmul(ops.swapaxes(unit, -1, -2), unit)",
            hint="You compare columns with columns. Rows go left and, turned, right: (n, d) times (d, n)."),
    ),
)  # fmt: skip
