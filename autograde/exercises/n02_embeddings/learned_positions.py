"""The vectors of the first positions; a table of l_max rows has no more than l_max positions."""

import numpy as np

from autograde.exercises.draws import Random, normal
from autograde.exercises.n02_embeddings._shared import READY_MADE
from autograde.exercises.spec import Case, Exercise, Part, Raises, Slopes, Trial, cases, mistake, values


def first_rows(length, w_p):
    return w_p[np.arange(length)]


def shorter_than_the_table(rng: Random) -> list[Case]:
    """Also one position, and a table longer than BERT's."""
    lengths = rng.choice(np.arange(2, 7), 2, replace=False)
    return [*(Case((int(length), normal(rng, 7, 4))) for length in lengths), Case((1, normal(rng, 7, 4))),
            Case((int(rng.integers(520, 600)), normal(rng, 640, 2)))]  # fmt: skip


def slopes_of_table(rng: Random) -> list[Trial]:
    """The changes of the result for small changes of the table."""
    case = shorter_than_the_table(rng)[0]
    return [Trial((case,), (Slopes(normal(rng, case.arguments[0], 4), {1: normal(rng, 7, 4)}),))]


def as_long_as_the_table(rng: Random) -> list[Case]:
    return [Case((5, normal(rng, 5, 3))), Case((1, normal(rng, 1, 4))), Case((530, normal(rng, 530, 2)))]


def any_length(rng: Random) -> list[Case]:
    rows = int(rng.integers(3, 700))
    return [Case((length, normal(rng, rows, 3))) for length in (1, rows - 1)]


def any_whole_table(rng: Random) -> list[Case]:
    rows = int(rng.integers(2, 700))
    return [Case((rows, normal(rng, rows, 3)))]


def longer_than_the_table(rng: Random) -> list[Trial]:
    """Also where the table has more columns than rows."""
    sizes = ((1, 9), (5, 3), (600, 3))
    return [Trial((Case((6 + more, normal(rng, 6, d_e))),), (Raises("ValueError"),)) for more, d_e in sizes]


SILENT = """
def learned_positions(length, w_p):
    return w_p[:length]
"""
WRAPPED = """
def learned_positions(length, w_p):
    return ops.take(w_p, ops.arange(length) % w_p.shape[0], axis=0)
"""
REPEATED = """
def learned_positions(length, w_p):
    places = ops.minimum(ops.arange(length), w_p.shape[0] - 1)
    return ops.take(w_p, places, axis=0)
"""
ASSERTED = """
def learned_positions(length, w_p):
    assert length <= w_p.shape[0], "too long"
    return w_p[:length]
"""

EXERCISE = Exercise(
    reference=first_rows,
    parts=(
        values(1, shorter_than_the_table, hidden=any_length),
        cases("the whole table", 0.5, as_long_as_the_table, "a sequence of exactly ℓ_max tokens must be accepted",
            any_whole_table),
        Part("longer than the table", 1, longer_than_the_table,
            "more tokens than the table has rows must raise a ValueError"),
        Part("gradients", 0.5, slopes_of_table, "the table cannot be trained: its gradient is wrong or missing"),
    ),
    forbidden=READY_MADE,
    hints=(
        "Two things to do: raise an error beyond the end of the table, and otherwise return its first rows.",
        "`w_p.shape[0]` is ℓ_max. A length equal to it is still allowed.",
        "`raise ValueError(…)` with both numbers in its message; then a slice of the first `length` rows.",
    ),
    misconceptions=(
        mistake("silently-short", cell=SILENT,
            hint="A slice beyond the end of a table is no error in Python: it returns fewer rows than requested, "
                 "without a message. Raise the error yourself."),
        mistake("begins-again", cell=WRAPPED,
            hint="Beyond the end you start again at row 0, so token ℓ_max gets the first position. There is no "
                 "learned vector for it: raise a ValueError."),
        mistake("last-row-repeated", cell=REPEATED,
            hint="Beyond the end you repeat the last row, so all later tokens get the same position. Raise a "
                 "ValueError instead."),
        mistake("last-row-refused", "length > longest", "length >= longest",
            hint="You refuse a sequence as long as the table. ℓ_max tokens have the positions 0 … ℓ_max − 1: each "
                 "of them has a row."),
        mistake("rows-from-one", "w_p[:length]", "w_p[1 : length + 1]",
            hint="You return the rows from 1 on. The first token has position 0."),
        mistake("out-of-the-graph", "return w_p[:length]", "return ops.convert_to_tensor(w_p.numpy()[:length])",
            hint="The values are right, but the table cannot learn: the rows are computed with NumPy, or their "
                 "gradient was stopped. Take the rows of the tensor itself."),
        mistake("asserted", cell=ASSERTED,
            hint="An `assert` is removed when Python runs with -O, and its error is less clear for callers. Raise a "
                 "ValueError."),
    ),
)  # fmt: skip
