"""The input of a decoder in training: the target, one position later."""

import numpy as np

from autograde.exercises.writing import Case, Exercise, cases, draws, mistake, values, whole_numbers


def shift_right(ids, start):
    return np.insert(ids, 0, start, axis=1)[:, :-1]


INPUTS = draws(
    __name__,
    Case(([[5, 6, 7, 2], [8, 9, 2, 0]], 1), note="two targets, the second one padded"),
    ids=lambda rng, sizes: whole_numbers(rng, 50, sizes["batch"], sizes["tokens"]),
    start=lambda rng, sizes: int(rng.integers(50, 60)),
    least={"tokens": 2},
)


def single(rng):
    """Targets of one token, and another id of the start, also 0."""
    return [Case((whole_numbers(rng, 50, 3, 1), 7)), Case((whole_numbers(rng, 50, 2, 4) + 1, 0))]


EXERCISE = Exercise(
    reference=shift_right,
    dtype="int32",
    parts=(
        values(1, INPUTS),
        cases("other starts", 1, single,
            "with targets of one token, or with another id of the start, the result is wrong"),
    ),
    hints=(
        "Write the two rows for a target of three tokens: what is read at each position, what is predicted?",
        "A column of `start` in front, and all columns of `ids` but the last.",
        "`ids[:, :-1]` has all columns but the last; `ops.full_like(ids[:, :1], start)` is a column of `start`.",
    ),
    misconceptions=(
        mistake("shifted-left", "[first, ids[:, :-1]]", "[ids[:, 1:], first]",
            hint="You move the target to the left: the decoder would read the token after the next one. It reads the "
                 "target one position *later*."),
        mistake("one-too-many", "[first, ids[:, :-1]]", "[first, ids]",
            hint="Your rows are one token longer than the target. After its last token there is nothing to predict: "
                 "drop it."),
        mistake("first-overwritten", "[first, ids[:, :-1]]", "[first, ids[:, 1:]]",
            hint="You replace the first token by `start`. No token is replaced: all move one position to the right, "
                 "and the last one is dropped."),
        mistake("turned-round", "first = ops.full_like(ids[:, :1], start)", "first = ids[:, -1:]",
            hint="Your last token comes back in front. In front is `start`, in every row."),
    ),
)  # fmt: skip
