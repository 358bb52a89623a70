"""Selects the vectors at the given positions of each sequence."""

import numpy as np

from autograde.exercises.draws import Random, normal, whole_numbers
from autograde.exercises.n07_pretraining._shared import positions_in_rows
from autograde.exercises.spec import Case, Exercise, Forbidden, Part, Slopes, Trial, cases, mistake


def gather_positions(hidden, positions):
    return np.stack([row[indices] for row, indices in zip(hidden, positions)])


def hidden_and_positions(rng: Random) -> list[Case]:
    return [
        Case((normal(rng, 2, 5, 4), positions_in_rows(rng, 2, 5, 3))),
        Case((normal(rng, 3, 6, 3), positions_in_rows(rng, 3, 6, 2))),
        Case((normal(rng, 3, 4, 2), positions_in_rows(rng, 3, 4, 1))),
        long_rows(rng),
    ]


def long_rows(rng: Random) -> Case:
    """Positions that do not fit into 8 bits, nor exactly into float16."""
    far = [[130, 256 + rng.integers(200), 2049], [255, 300 + rng.integers(200), 2051 + 2 * rng.integers(24)]]
    return Case((normal(rng, 2, 2100, 2), np.array(far, "int32")))


def other_positions(rng: Random) -> list[Case]:
    return [
        Case((normal(rng, 1, 6, 3), positions_in_rows(rng, 1, 6, 4))),
        Case((normal(rng, 2, 4, 3), np.tile(np.arange(4), (2, 1)).astype("int32"))),
    ]


def other_orders(rng: Random) -> list[Case]:
    return [Case((normal(rng, 2, 4, 3), rng.permuted(np.tile(np.arange(4), (2, 1)), axis=1).astype("int32")))]


def filled_up_positions(rng: Random) -> list[Case]:
    """Rows with fewer predictions are padded with position 0; all positions, backwards; more predictions than tokens;
    one row; one prediction per row; a single token."""
    positions = positions_in_rows(rng, 3, 6, 4)
    positions[0, 2:], positions[1, 1:] = 0, 0
    backwards = np.tile(np.arange(4)[::-1], (2, 1)).astype("int32")
    return [
        Case((normal(rng, 3, 6, 2), positions)), Case((normal(rng, 2, 4, 3), backwards)),
        Case((normal(rng, 2, 2, 3), whole_numbers(rng, 2, 2, 5))),
        Case((normal(rng, 1, 5, 3), positions_in_rows(rng, 1, 5, 2))),
        Case((normal(rng, 4, 3, 5), np.array([[2], [0], [1], [2]], "int32"))),
        Case((normal(rng, 2, 1, 3), np.zeros((2, 1), "int32"))),
    ]  # fmt: skip


def values_and_slopes(rng: Random) -> list[Trial]:
    case = hidden_and_positions(rng)[0]
    slopes = Trial((case,), (Slopes(normal(rng, 2, 3, 4), {0: normal(rng, 2, 5, 4)}),))
    return [*(Trial((case,)) for case in hidden_and_positions(rng)), slopes]


EXERCISE = Exercise(
    reference=gather_positions,
    in_graph=True,
    parts=(
        Part("values", 2, values_and_slopes, hidden=lambda rng: [Trial((case,)) for case in other_positions(rng)]),
        cases("positions in any order", 1, filled_up_positions,
            "positions may be in any order, and the same one may occur more than once in a row",
            other_orders),
    ),
    forbidden=Forbidden("The library has this function; here you write it.", ("bertlab.layers.gather_positions",)),
    facts=lambda case: {"rows": case.arguments[0].shape[0], "tokens": case.arguments[0].shape[1]},
    hints=(
        "Row b of the result has the vectors of row b of `hidden` at the positions in row b of `positions`.",
        "`ops.take_along_axis(…, axis=1)` works row by row. Both arguments need the same number of axes.",
        "With an axis added at the end, the positions are (batch, predictions, 1); they are broadcast along the "
        "last axis.",
    ),
    misconceptions=(
        mistake("offsets-of-predictions", "ops.take_along_axis(hidden, ops.expand_dims(positions, -1), axis=1)",
            "ops.take(ops.reshape(hidden, (-1, hidden.shape[-1])), positions + ops.expand_dims("
            "ops.arange(hidden.shape[0], dtype=positions.dtype), 1) * positions.shape[1], axis=0)",
            hint="Row b of your flat matrix begins at b · P, the number of predictions. Each sequence has T tokens: it "
                 "begins at b · T."),
        mistake("the-first-rows-positions", "ops.take_along_axis(hidden, ops.expand_dims(positions, -1), axis=1)",
            "ops.take(hidden, positions[0], axis=1)",
            hint="All rows are read at the positions of the first row. Each row has its own positions."),
        mistake("every-row-at-everybodys-positions",
            "ops.take_along_axis(hidden, ops.expand_dims(positions, -1), axis=1)",
            "ops.take(hidden, positions, axis=1)",
            hint="`ops.take` reads every row at the positions of every row, so there is one axis too many. Row b "
                 "belongs to row b."),
        mistake("flattened-without-an-offset", "ops.take_along_axis(hidden, ops.expand_dims(positions, -1), axis=1)",
            "ops.take(ops.reshape(hidden, (-1, hidden.shape[-1])), positions, axis=0)",
            hint="After flattening, position t of row b is at b · {tokens} + t. You use t, which is always in row 0."),
        mistake("zeroed-instead-of-taken", "ops.take_along_axis(hidden, ops.expand_dims(positions, -1), axis=1)",
            "hidden * ops.expand_dims(ops.max(ops.one_hot(positions, hidden.shape[1]), axis=1), -1)",
            hint="You set the other vectors to zero and keep all {tokens} positions. The head would still multiply "
                 "each of them with the whole vocabulary: select the masked ones."),
        mistake("the-first-ones",
            "ops.take_along_axis(hidden, ops.expand_dims(positions, -1), axis=1)", "hidden[:, : positions.shape[1]]",
            hint="You take the first positions of each row. Use the positions in `positions`."),
        mistake("counted-from-one", "ops.expand_dims(positions, -1)", "ops.expand_dims(positions - 1, -1)",
            hint="You take the vector in front of each position: you subtract 1. `positions` are counted from 0, so "
                 "use them as they are."),
    ),
)  # fmt: skip
