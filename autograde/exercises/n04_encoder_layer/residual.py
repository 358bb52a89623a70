"""Adds the result of a sub-layer, after dropout, to its input."""

import numpy as np

from autograde.exercises.n04_encoder_layer._shared import LIBRARY, SEED, away_from_zero
from autograde.exercises.writing import Case, Dropped, Exercise, Part, Random, Slopes, Trial, cases, mistake, normal


def residual(x, found, rate, training):
    """Without dropout."""
    return x + found


def added_outside_training(rng: Random) -> list[Case]:
    return [
        Case((normal(rng, 4, 6), normal(rng, 4, 6), 0.4, False), seed=SEED),
        Case((normal(rng, 2, 3, 5), normal(rng, 2, 3, 5), 0.1, False), seed=SEED),
        Case((normal(rng, 3, 5), normal(rng, 3, 5), 0.0, True), seed=SEED),
        Case((normal(rng, 2, 2, 3, 4), normal(rng, 2, 2, 3, 4), 0.5, False), seed=SEED),
    ]


def road_and_change(rng: Random) -> list[Trial]:
    """In training: with x = 0 the result is the change after dropout, with a change of 0 it is x."""
    full, empty = away_from_zero(rng, 4, 500), np.zeros((4, 500), "float32")
    return [
        Trial((Case((empty, full, 0.4, True), seed=SEED),), (Dropped(0.4),)),
        Trial((Case((full, empty, 0.4, True), seed=SEED),)),
        both(rng),
        direct_path(rng),
        *of_rate(rng, 0.1, 4, 9, 50),
        *of_rate(rng, 0.725, 20, 60),
    ]


def both(rng: Random) -> Trial:
    """x is whole also where the change is 0."""
    x, found = np.full((4, 500), 2, "float32"), away_from_zero(rng, 4, 500)
    return Trial((Case((x, found, 0.5, True), seed=SEED),), (Dropped(0.5, beside=x),))


def direct_path(rng: Random) -> Trial:
    """The gradients of both: that of x is whole."""
    case = Case((normal(rng, 3, 4), normal(rng, 3, 4), 0.0, True), seed=SEED)
    slopes = Slopes(normal(rng, 3, 4), {0: normal(rng, 3, 4), 1: normal(rng, 3, 4)})
    return Trial((case,), (slopes,))


def of_rate(rng: Random, rate: float, *shape: int) -> list[Trial]:
    """The same for another rate, and another seed that drops other numbers."""
    arguments = np.zeros(shape, "float32"), away_from_zero(rng, *shape), rate, True
    calls = Case(arguments, seed=SEED), Case(arguments, seed=SEED + 1)
    return [Trial(calls, (Dropped(rate), Dropped(rate, answer=1, unlike=0)))]


def other_rates(rng: Random) -> list[Trial]:
    return of_rate(rng, float(rng.uniform(0.2, 0.8)), 3, 20, 30) + of_rate(
        rng, float(rng.uniform(0.2, 0.8)), 2, 2, 10, 40
    )


EXERCISE = Exercise(
    reference=residual,
    parts=(
        cases("outside training", 1, added_outside_training, ""),
        Part("training", 1, road_and_change,
            "in training only `found` goes through dropout: x is neither dropped nor scaled; gradients must reach both",
            other_rates),
    ),
    forbidden=LIBRARY,
    hints=(
        "One line: a sum of two. Which of the two gets dropout?",
        "x is the direct path. It must not change.",
        "Call your `dropout` on `found`, with rate and training.",
    ),
    misconceptions=(
        mistake("sum-dropped", "x + dropout(found, rate, training)", "dropout(x + found, rate, training)",
            hint="You apply dropout to the whole sum, so parts of x are lost as well. Apply it to `found` only."),
        mistake("road-dropped", "x + dropout(found, rate, training)", "dropout(x, rate, training) + found",
            hint="You apply dropout to x. Apply it to the result of the sub-layer; x must not change."),
        mistake("not-added", "x + dropout(found, rate, training)", "dropout(found, rate, training)",
            hint="This is only `found`. The residual connection adds it to x."),
        mistake("difference", "x + dropout(found, rate, training)", "dropout(found - x, rate, training)",
            hint="You subtract x from `found`. The sub-layer *learns* the difference; the connection adds it to x."),
        mistake("no-dropout", "dropout(found, rate, training)", "found",
            hint="Nothing is dropped in training: apply `dropout` to `found` first."),
        mistake("always-training", "dropout(found, rate, training)", "dropout(found, rate, True)",
            hint="Numbers are dropped outside training: pass on `training`."),
    ),
)  # fmt: skip
