"""Puts shuffled tokens back into their original order."""

import numpy as np

from autograde.exercises.draws import Random, normal
from autograde.exercises.spec import Case, Exercise, cases, mistake, values


def unshuffle(y, order):
    result = np.empty_like(y)
    result[..., order, :] = y
    return result


def cycle(rng: Random, tokens: int) -> np.ndarray:
    """An order of which every token is moved, and twice the same is not back where it was."""
    ring = rng.permutation(tokens)
    order = np.empty(tokens, "int32")
    order[ring] = np.roll(ring, 1)
    return order


def shuffled_rows(rng: Random) -> list[Case]:
    return [Case((normal(rng, 5, 7), cycle(rng, 5))), Case((normal(rng, 4, 4), cycle(rng, 4)))]


def shuffled_batches(rng: Random) -> list[Case]:
    return [Case((normal(rng, 2, 6, 6), cycle(rng, 6)))]


EXERCISE = Exercise(
    reference=unshuffle,
    parts=(
        values(1, shuffled_rows),
        cases("a batch", 1, shuffled_batches, "with a batch in front of the tokens the result is another"),
    ),
    hints=(
        "Take three rows a, b, c and order = (2, 0, 1): shuffled they are c, a, b. Which places must you read to get "
        "a, b, c again?",
        "You are looking for the inverse of a permutation: where in `order` does 0 stand, where 1, where 2?",
        "`ops.argsort(order)` lists exactly these places. Then take the rows of y in that order.",
    ),
    misconceptions=(
        mistake("shuffled-again", "ops.argsort(order)", "order",
            hint="You applied the same order once more. That undoes it only if the order exchanges places in pairs; "
                 "in general you need its inverse."),
        mistake("reversed", "ops.take(y, ops.argsort(order), axis=-2)", "ops.flip(y, axis=-2)",
            hint="You turned the rows round. That undoes only an order that turned them round; look at what `order` "
                 "says."),
        mistake("numbers-sorted", "ops.take(y, ops.argsort(order), axis=-2)", "ops.sort(y, axis=-2)",
            hint="You sorted the numbers of every column, so the rows fell apart. Whole rows move; what decides is "
                 "`order`, not y."),
        mistake("columns-moved", "axis=-2", "axis=-1",
            hint="You moved the numbers inside each vector. Tokens are rows, so the axis to take from is the last "
                 "but one."),
    ),
)  # fmt: skip
