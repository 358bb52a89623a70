"""Adds what a sub-layer found to what it was given, with dropout on what it found."""

import numpy as np

from autograde.exercises.draws import Random, normal
from autograde.exercises.n04_encoder_layer._shared import LIBRARY, SEED, away_from_zero
from autograde.exercises.spec import Case, Dropped, Exercise, Part, Trial, cases, mistake


def residual(x, found, rate, training):
    """Without its chance."""
    return x + found


def added_outside_training(rng: Random) -> list[Case]:
    return [
        Case((normal(rng, 4, 6), normal(rng, 4, 6), 0.4, False), seed=SEED),
        Case((normal(rng, 2, 3, 5), normal(rng, 2, 3, 5), 0.1, False), seed=SEED),
    ]


def road_and_change(rng: Random) -> list[Trial]:
    """In training: an empty road shows what becomes of the change, an empty change what becomes of the road."""
    full, empty = away_from_zero(rng, 4, 500), np.zeros((4, 500), "float32")
    return [
        Trial((Case((empty, full, 0.4, True), seed=SEED),), (Dropped(0.4),)),
        Trial((Case((full, empty, 0.4, True), seed=SEED),)),
    ]


EXERCISE = Exercise(
    reference=residual,
    parts=(
        cases("nobody trains", 1, added_outside_training, ""),
        Part("training", 1, road_and_change, "in training dropout must act on what was found, and never on x"),
    ),
    forbidden=LIBRARY,
    hints=(
        "One line: a sum of two. Which of the two passes through dropout?",
        "x is the road. Whatever chance does, x arrives whole.",
        "Call your `dropout` on `found`, and hand it rate and training.",
    ),
    misconceptions=(
        mistake("sum-dropped", "x + dropout(found, rate, training)", "dropout(x + found, rate, training)",
            hint="Dropout acts on the whole sum, so parts of x are lost as well. It may act on what was found, not "
                 "on the road."),
        mistake("road-dropped", "x + dropout(found, rate, training)", "dropout(x, rate, training) + found",
            hint="Dropout acts on x. It is to act on what the sub-layer found; x arrives whole."),
        mistake("not-added", "x + dropout(found, rate, training)", "dropout(found, rate, training)",
            hint="This is only what was found. The residual connection adds it to x."),
        mistake("difference", "x + dropout(found, rate, training)", "dropout(found - x, rate, training)",
            hint="You take x away from what was found. The sub-layer *learns* the difference; the connection adds it "
                 "to x."),
        mistake("no-dropout", "dropout(found, rate, training)", "found",
            hint="Nothing is dropped in training: what was found passes through `dropout` first."),
        mistake("always-training", "dropout(found, rate, training)", "dropout(found, rate, True)",
            hint="Numbers are dropped although nobody is training: hand `training` on."),
    ),
)  # fmt: skip
