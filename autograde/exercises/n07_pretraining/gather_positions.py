"""The vectors at the wanted positions of each row."""

import numpy as np

from autograde.exercises.draws import Random, normal
from autograde.exercises.n07_pretraining._shared import places_in_rows
from autograde.exercises.spec import Case, Exercise, Forbidden, cases, mistake, values


def gather_positions(hidden, positions):
    return np.stack([row[places] for row, places in zip(hidden, positions)])


def hidden_and_positions(rng: Random) -> list[Case]:
    return [
        Case((normal(rng, 2, 5, 4), places_in_rows(rng, 2, 5, 3))),
        Case((normal(rng, 3, 6, 3), places_in_rows(rng, 3, 6, 2))),
    ]


def filled_up_positions(rng: Random) -> list[Case]:
    """Rows with fewer predictions are filled up with position 0."""
    positions = places_in_rows(rng, 3, 6, 4)
    positions[0, 2:], positions[1, 1:] = 0, 0
    return [Case((normal(rng, 3, 6, 2), positions))]


EXERCISE = Exercise(
    reference=gather_positions,
    parts=(
        values(2, hidden_and_positions),
        cases("filling", 1, filled_up_positions, "a position may be asked for more than once in a row"),
    ),
    forbidden=Forbidden("The library has this function; here you write it.", ("bertlab.layers", "bertlab.models")),
    facts=lambda case: {"rows": case.arguments[0].shape[0], "tokens": case.arguments[0].shape[1]},
    hints=(
        "Row b of the result holds the vectors of row b of `hidden` at the places that row b of `positions` names.",
        "`ops.take_along_axis(…, axis=1)` goes row by row. It wants as many axes in both.",
        "With an axis added at the end, the positions are (batch, predictions, 1); along the last axis they are "
        "repeated.",
    ),
    misconceptions=(
        mistake("the-first-rows-positions", "ops.take_along_axis(hidden, ops.expand_dims(positions, -1), axis=1)",
            "ops.take(hidden, positions[0], axis=1)",
            hint="All rows are read at the positions of the first row. Each row has positions of its own."),
        mistake("every-row-at-everybodys-positions",
            "ops.take_along_axis(hidden, ops.expand_dims(positions, -1), axis=1)",
            "ops.take(hidden, positions, axis=1)",
            hint="`ops.take` reads every row at the positions of every row, so an axis is too many. Row b goes with "
                 "row b."),
        mistake("flattened-without-an-offset", "ops.take_along_axis(hidden, ops.expand_dims(positions, -1), axis=1)",
            "ops.take(ops.reshape(hidden, (-1, hidden.shape[-1])), positions, axis=0)",
            hint="With the rows end to end, position t of row b stands at b · {tokens} + t. You take t: always row 0."),
        mistake("zeroed-instead-of-taken", "ops.take_along_axis(hidden, ops.expand_dims(positions, -1), axis=1)",
            "hidden * ops.expand_dims(ops.max(ops.one_hot(positions, hidden.shape[1]), axis=1), -1)",
            hint="You set the other vectors to zero and keep all {tokens} places. The head would still multiply each "
                 "of them with the whole vocabulary: take the few out."),
        mistake("the-first-ones",
            "ops.take_along_axis(hidden, ops.expand_dims(positions, -1), axis=1)", "hidden[:, : positions.shape[1]]",
            hint="You take the first places of each row. `positions` says which places are wanted."),
    ),
)  # fmt: skip
