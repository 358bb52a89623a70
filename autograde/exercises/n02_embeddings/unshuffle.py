"""Puts shuffled tokens back into their original order."""

import numpy as np

from autograde.exercises.draws import Random, normal
from autograde.exercises.spec import Case, Exercise, cases, mistake, values


def unshuffle(y, order):
    result = np.empty_like(y)
    result[..., order, :] = y
    return result


def cycle(rng: Random, tokens: int) -> np.ndarray:
    """A permutation that moves every token and is not its own inverse."""
    ring = rng.permutation(tokens)
    order = np.empty(tokens, "int32")
    order[ring] = np.roll(ring, 1)
    return order


def shuffled_rows(rng: Random) -> list[Case]:
    return [
        Case((normal(rng, 5, 7), cycle(rng, 5))),
        Case((normal(rng, 4, 4), cycle(rng, 4))),
        Case((normal(rng, 150, 2), cycle(rng, 150))),
        Case((normal(rng, 1, 3), np.zeros(1, "int32"))),
    ]


def shuffled_batches(rng: Random) -> list[Case]:
    shapes = ((2, 6, 6), (1, 5, 3), (2, 3, 4, 5), (4, 4, 4, 4), (2, 1, 2, 3, 1))
    return [Case((normal(rng, *shape), cycle(rng, shape[-2]))) for shape in shapes]


def other_shapes(rng: Random) -> list[Case]:
    tokens = int(rng.integers(3, 300))
    shapes = ((tokens, 3), (3, tokens, 2), (2, 1, 2, tokens, 2))
    return [Case((normal(rng, *shape), rng.permutation(tokens).astype("int32"))) for shape in shapes]


EXERCISE = Exercise(
    reference=unshuffle,
    parts=(
        values(1, shuffled_rows),
        cases("a batch", 1, shuffled_batches,
            "with a batch in front of the tokens the result is wrong", other_shapes),
    ),
    hints=(
        "Take three rows a, b, c and order = (2, 0, 1): shuffled they are c, a, b. Which indices must you read to "
        "get a, b, c again?",
        "You need the inverse of a permutation: at which index of `order` is 0, at which 1, at which 2?",
        "`ops.argsort(order)` lists exactly these indices. Then take the rows of y in that order.",
    ),
    misconceptions=(
        mistake("shuffled-again", "ops.argsort(order)", "order",
            hint="You applied the same order again. That is only the inverse if the order swaps pairs; in general "
                 "you need its inverse."),
        mistake("reversed", "ops.take(y, ops.argsort(order), axis=-2)", "ops.flip(y, axis=-2)",
            hint="You reversed the rows. That is only right if the order was a reversal; use `order`."),
        mistake("numbers-sorted", "ops.take(y, ops.argsort(order), axis=-2)", "ops.sort(y, axis=-2)",
            hint="You sorted the numbers of every column, so the rows were mixed. Move whole rows; sort by `order`, "
                 "not by y."),
        mistake("columns-moved", "axis=-2", "axis=-1",
            hint="You moved the numbers inside each vector. Tokens are rows, so take from the last axis but one."),
    ),
)  # fmt: skip
