"""A fixed vector for each position: sines and cosines of decreasing frequency."""

import numpy as np

from autograde.exercises.n02_embeddings._shared import READY_MADE
from autograde.exercises.writing import Case, Exercise, Random, Tolerance, cases, mistake, values


def sinusoids(length, d_e):
    table = np.zeros((length, d_e))
    for p in range(length):
        for i in range(d_e // 2):
            angle = p / 10000 ** (2 * i / d_e)
            table[p, 2 * i], table[p, 2 * i + 1] = np.sin(angle), np.cos(angle)
    return table


def small_tables(rng: Random) -> list[Case]:
    width = int(rng.choice([6, 10]))
    return [Case((4, 8)), Case((int(rng.integers(5, 9)), width)), Case((width, width)), Case((1, 4)), Case((5, 2)),
            Case((7, 12), first=(3, 12)), Case((3, 14), first=(7, 14))]  # fmt: skip


def long_tables(rng: Random) -> list[Case]:
    return [
        Case((int(rng.integers(60, 100)), 4 * int(rng.integers(3, 6)))),
        Case((600, 6)),
        Case((int(rng.integers(5001, 5100)), 2)),  # more than the 5,000 of a table that is often copied
        Case((3, 130)),
    ]


def other_tables(rng: Random) -> list[Case]:
    return [Case((int(rng.integers(1, 400)), 2 * int(rng.integers(1, 40)))) for _ in range(3)]


A_FREQUENCY_PER_COLUMN = """
def sinusoids(length, d_e):
    position = ops.expand_dims(ops.arange(length, dtype="float32"), axis=1)
    column = ops.arange(d_e, dtype="float32")
    angles = position / 10000 ** (column / d_e)
    return ops.where(column % 2 == 0, ops.sin(angles), ops.cos(angles))
"""

EXERCISE = Exercise(
    reference=sinusoids,
    tolerance=Tolerance(1e-3, 5e-4),  # a power and a sine of float32 numbers up to 100
    parts=(
        values(3, small_tables),
        cases("long sequences", 1, long_tables,
            "for a longer sequence or wider vectors the result is another", other_tables),
    ),
    forbidden=READY_MADE,
    hints=(
        "Write down row 0 by hand: sin 0, cos 0, sin 0, cos 0, … Then row 1, first two columns: sin 1, cos 1.",
        "First compute all angles, one per position and pair: (length, 1) divided by (d_e / 2,) gives (length, d_e "
        "/ 2).",
        "To alternate sines and cosines, stack both on a new last axis, then reshape to (length, d_e).",
    ),
    misconceptions=(
        mistake("pairs-from-one", "2 * pair / d_e", "2 * (pair + 1) / d_e",
            hint="You number the pairs from 1, as the lecture's formula does. In the paper the first pair has i = 0, "
                 "so its angle is the position itself."),
        mistake("positions-from-one",
            'ops.arange(length, dtype="float32")', 'ops.arange(1, length + 1, dtype="float32")',
            hint="You number the positions from 1, as the lecture does. In the paper, and in BERT, the first token "
                 "has position 0: its row is 0, 1, 0, 1, …"),
        mistake("sines-then-cosines", "ops.stack([ops.sin(angles), ops.cos(angles)], axis=-1)",
            "ops.concatenate([ops.sin(angles), ops.cos(angles)], axis=-1)",
            hint="You put all sines first and all cosines after them. That contains the same information (the "
                 "authors' own code does it), but in the formula they alternate: columns 2i and 2i + 1."),
        mistake("cosine-first", "[ops.sin(angles), ops.cos(angles)]", "[ops.cos(angles), ops.sin(angles)]",
            hint="Your pairs begin with the cosine. Column 2i is the sine, column 2i + 1 the cosine."),
        mistake("a-frequency-per-column", cell=A_FREQUENCY_PER_COLUMN,
            hint="Every column has its own frequency in your table. A sine and its cosine have the same: the "
                 "exponent counts pairs (2i), also in column 2i + 1."),
        mistake("exponent-doubled-twice", "2 * pair / d_e", "4 * pair / d_e",
            hint="Your exponent is 4i / d_e; the formula has 2i / d_e. The columns 0, 2, 4, … are 2i already: do not "
                 "double them again."),
        mistake("exponent-not-doubled", "2 * pair / d_e", "pair / d_e",
            hint="Your exponent is i / d_e; the formula has 2i / d_e. With yours the slowest hand only reaches 1 / "
                 "√10000."),
    ),
)  # fmt: skip
