"""Cosines of all pairs of vectors, after the mean of many vectors is subtracted."""

import numpy as np

from autograde.exercises.writing import (
    Case,
    Exercise,
    Forbidden,
    Part,
    Random,
    Trial,
    cases,
    draws,
    mistake,
    normal,
    sized,
)

READY_MADE = Forbidden(
    "In this exercise you write the cosine yourself.",
    ("keras.losses.cosine_similarity", "keras.losses.CosineSimilarity", "keras.metrics.CosineSimilarity"),
)


def centred_cosine(x, mean):
    """Pair by pair."""
    differences = [row - mean for row in x]
    return np.array([[a @ b / np.sqrt((a @ a) * (b @ b)) for b in differences] for a in differences])


def around_mean(rng: Random, sizes) -> np.ndarray:
    return normal(rng, sizes["d"]) + 1


BY_HAND = Case(([[11, 1], [9, 1], [12, 2]], [10, 0]), note="the text's example")
INPUTS = draws(__name__, BY_HAND, sized(n=2, d=5), sized(n=6, d=3), least={"d": 3}, mean=around_mean, scale={"x": 1.5})


def in_a_cone(rng: Random) -> list[Case]:
    """A large common part, vectors of very different lengths around it, and a mean of zeros."""
    mean = normal(rng, 7, size=5)
    lengths = np.array([[0.5], [8], [1], [3]], "float32")
    return [
        Case((mean + lengths * normal(rng, 4, 7), mean)), Case((lengths * normal(rng, 4, 7), np.zeros(7, "float32"))),
    ]  # fmt: skip


EXERCISE = Exercise(
    reference=centred_cosine,
    parts=(
        Part("values", 2, lambda rng: [Trial((case,)) for case in INPUTS(rng)],
            hidden=lambda rng: [Trial((case,)) for case in INPUTS.hidden(rng)]),
        cases("in a narrow cone", 1, in_a_cone, "vectors of different lengths around a large mean have wrong cosines"),
    ),
    forbidden=READY_MADE,
    facts=lambda case: {"n": case.arguments[0].shape[0]},
    hints=(
        "First subtract, then divide each vector by its own length, then multiply all with all.",
        "The length of each row: `ops.norm(…, axis=-1, keepdims=True)`. Of which vectors, before or after the mean is "
        "subtracted?",
        "Of unit vectors the product of the matrix with its transpose has all cosines.",
    ),
    misconceptions=(
        mistake("not-centred", "centred = x - mean", "centred = x",
            hint="`mean` has no effect: these are the plain cosines, which are large for any two vectors."),
        mistake("own-mean", "centred = x - mean", "centred = x - ops.mean(x, axis=0)",
            hint="You subtract the mean of these {n} vectors. Use the given mean: of two vectors, the own one makes "
                 "every cosine −1."),
        mistake("mean-of-each-vector", "centred = x - mean", "centred = x - ops.mean(x, axis=-1, keepdims=True)",
            hint="You subtract from each vector the mean of its own numbers. That is a correlation; `mean` is a vector "
                 "that all have in common."),
        mistake("normalised-first",
            "    centred = x - mean\n    unit = centred / ops.norm(centred, axis=-1, keepdims=True)\n",
            "    unit = x / ops.norm(x, axis=-1, keepdims=True) - mean / ops.norm(mean)\n",
            hint="You scale to length 1 first and then subtract. The result does not have length 1, so this is not a "
                 "cosine: subtract first."),
        mistake("lengths-of-the-raw-vectors", "centred / ops.norm(centred,", "centred / ops.norm(x,",
            hint="You divide by the lengths of the vectors as they were. Divide by the lengths of the centred ones."),
        mistake("products-not-cosines", "unit = centred / ops.norm(centred, axis=-1, keepdims=True)", "unit = centred",
            hint="These are products, which grow with the lengths. Divide each centred vector by its length."),
        mistake("one-length-for-all", "ops.norm(centred, axis=-1, keepdims=True)", "ops.norm(centred)",
            hint="You divide by the length of the whole matrix. Each vector has a length of its own."),
        mistake("lengths-of-the-columns", "axis=-1, keepdims=True", "axis=0, keepdims=True",
            hint="You divide by the lengths of the columns. A vector is a row: axis −1."),
        mistake("squared-length", "ops.norm(centred, axis=-1, keepdims=True)",
            "ops.sum(ops.square(centred), axis=-1, keepdims=True)",
            hint="You divide by the squared length. The length is its root."),
        mistake("mean-added", "centred = x - mean", "centred = x + mean",
            hint="You add the mean. It is subtracted."),
    ),
)  # fmt: skip
