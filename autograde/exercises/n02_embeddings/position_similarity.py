"""The cosine of the angle between every two rows."""

import numpy as np

from autograde.exercises.draws import Random, draws, normal, sized
from autograde.exercises.writing import Case, Exercise, Forbidden, Part, Reference, Same, Trial, mistake, values


def cosines(x):
    lengths = np.linalg.norm(x, axis=-1)
    return x @ np.swapaxes(x, -1, -2) / (lengths[..., :, None] * lengths[..., None, :])


INPUTS = draws(__name__, sized(n=4, d=6), sized(n=70))


def large_and_small(rng: Random) -> list[Case]:
    """Vectors of very different lengths, some in the same and in opposite directions.

    If an answer adds a small number to lengths or to their products, the shortest vector has another cosine.
    """
    sizes = np.array([[1e-4], [1e3], [1], [1e-2]], "float32")
    x = normal(rng, 4, 5) * sizes
    x[0] *= np.float32(3e-6) / np.linalg.norm(x[0])
    return [Case((x,)), Case((np.concatenate([x, -3 * x[:2], x[2:] * 10]),))]


def lengths_do_not_matter(rng: Random) -> list[Trial]:
    """Each vector scaled by its own factor: the angles stay."""
    x, factors = normal(rng, 5, 4), rng.uniform(0.2, 5, size=(5, 1)).astype("float32")
    everyone = tuple(range(5))
    return [Trial((Case((x,)), Case((x * factors,))), (Reference(0), Same((1, -2, everyone), (0, -2, everyone)))),
            *(Trial((case,)) for case in large_and_small(rng))]  # fmt: skip


EXERCISE = Exercise(
    reference=cosines,
    parts=(
        values(2, INPUTS),
        Part("vector length has no effect", 1, lengths_do_not_matter,
            "a longer vector in the same direction must have the same cosines"),
    ),
    forbidden=Forbidden(
        "In this exercise you write it yourself.", ("keras.losses", "keras.metrics", "keras.layers.Dot")
    ),
    hints=(
        "The cosine of two vectors is their dot product once both have length 1.",
        "The length of a row is the root of the sum of its squares: one number per row, with `keepdims=True`.",
        "All rows with all rows at once: the matrix of unit rows times its own transpose.",
    ),
    misconceptions=(
        mistake("divided-by-one-length", "ops.matmul(unit, ops.swapaxes(unit,", "ops.matmul(unit, ops.swapaxes(x,",
            hint="You divide each product by the length of one of its two rows. The cosine divides by both."),
        mistake("dot-products", "unit = x / lengths", "unit = x",
            hint="These are plain dot products: a long vector looks similar to all others. Divide every row by its "
                 "length first."),
        mistake("unit-columns", "axis=-1, keepdims=True", "axis=-2, keepdims=True",
            hint="You scaled the columns to length 1. A vector is a row: sum its squares over the last axis."),
        mistake("squared-lengths", "ops.sqrt(ops.sum(ops.square(x), axis=-1, keepdims=True))",
            "ops.sum(ops.square(x), axis=-1, keepdims=True)",
            hint="You divide by the sum of squares; the length is its root. The diagonal shows it: a vector with "
                 "itself must give 1."),
        mistake("one-length-for-all", "ops.sum(ops.square(x), axis=-1, keepdims=True)", "ops.sum(ops.square(x))",
            hint="You divide by the length of the whole matrix. Each row has its own length."),
        mistake("columns-compared",
            "ops.matmul(unit, ops.swapaxes(unit, -1, -2))", "ops.matmul(ops.swapaxes(unit, -1, -2), unit)",
            hint="You compare columns with columns. Multiply the rows with the transposed rows: (n, d) times (d, n)."),
    ),
)  # fmt: skip
