"""Puts matrices side by side: [Y1; Y2; ...]."""

import numpy as np

from autograde.exercises.draws import Random, normal
from autograde.exercises.spec import Case, Exercise, cases, mistake, values


def two_matrices(rng: Random) -> list[Case]:
    """Also more heads than BERT has, of one number each; a head of zeros."""
    a = np.array([[1, 2], [3, 4], [5, 6]], "float32")
    return [
        Case(([a, a + 10],), note="the lecture's example"),
        Case(([normal(rng, 4, 2) for _ in range(3)],)),
        Case(([normal(rng, 2, 1) for _ in range(25)],)),
        Case(([a, 0 * a, -a],)),
    ]


def batches_of_heads(rng: Random) -> list[Case]:
    """Up to three axes in front; a single head; two equal heads."""
    equal = normal(rng, 3, 4, 2)
    sizes = ((2, (2, 3, 4)), (3, (2, 2, 5, 3)), (1, (2, 4, 3)), (4, (1, 1, 2)), (2, (2, 1, 2, 3, 2)))
    return [*(Case(([normal(rng, *shape) for _ in range(heads)],)) for heads, shape in sizes), Case(([equal, equal],))]


def other_heads(rng: Random) -> list[Case]:
    heads, tokens, width = (int(size) for size in rng.integers(1, 9, size=3))
    shapes = ((tokens, width), (1, tokens, width), (2, 1, 3, tokens, width))
    return [Case(([normal(rng, *shape) for _ in range(heads)],)) for shape in shapes]


EXERCISE = Exercise(
    reference=lambda heads: np.concatenate(heads, axis=-1),
    parts=(
        values(1, two_matrices),
        cases("axes in front", 1, batches_of_heads,
            "with a batch in front of the matrices, or with equal heads, the result is wrong", other_heads),
    ),
    hints=(
        "Look at the lecture's example: how many rows go in, how many come out?",
        "The row of token t is: its row in Y¹, then its row in Y², and so on. Rows get longer, and their number "
        "stays.",
        "`ops.concatenate` joins along any axis. Which axis grows? Count from the end, so that a batch in front has "
        "no effect.",
    ),
    misconceptions=(
        mistake("rows-below-rows", "axis=-1", "axis=-2",
            hint="You put the matrices below each other. Every token must keep one row, which gets longer."),
        mistake("heads-added", "ops.concatenate(heads, axis=-1)", "sum(heads)",
            hint="You added the heads. Adding mixes their results; side by side, each keeps its own columns."),
        mistake("new-axis", "ops.concatenate(heads, axis=-1)", "ops.stack(heads, axis=0)",
            hint="Stacking makes a new axis for the heads. [Y¹; Y²] has no new axis: the last one gets longer."),
        mistake("columns-interleaved",
            "ops.concatenate(heads, axis=-1)", "ops.reshape(ops.stack(heads, -1), (*heads[0].shape[:-1], -1))",
            hint="The columns of the heads alternate in your result. Put all columns of Y¹ first, then all of Y²."),
    ),
)  # fmt: skip
