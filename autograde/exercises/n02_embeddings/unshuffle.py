"""Puts shuffled tokens back into their original order."""

import numpy as np

from autograde.exercises.writing import Exercise, Random, cases, draws, mistake, sized, values


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


SHAPED = {"least": {"tokens": 3}, "order": lambda rng, sizes: cycle(rng, sizes["tokens"])}
ROWS = draws(__name__, sized(tokens=5, d=7), sized(tokens=150), sized(tokens=1), in_front=False, **SHAPED)


EXERCISE = Exercise(
    reference=unshuffle,
    parts=(
        values(1, ROWS),
        cases("a batch", 1, draws(__name__, in_front=True, **SHAPED),
            "with a batch in front of the tokens the result is wrong"),
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
