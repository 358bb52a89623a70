"""Puts matrices side by side: [Y1; Y2; ...]."""

import numpy as np

from autograde.exercises.writing import Case, Exercise, cases, draws, mistake, sized, values

MATRICES = draws(
    __name__,
    Case(([[[1, 2], [3, 4], [5, 6]], [[11, 12], [13, 14], [15, 16]]],), note="the lecture's example"),
    Case(([[[1, 2], [3, 4]], [[0, 0], [0, 0]], [[-1, -2], [-3, -4]]],)),
    sized(heads=25, tokens=2, d_mid=1),  # more heads than BERT has
    in_front=False,
)
BATCHES = draws(__name__, Case(([[[[1, 2], [3, 4]]]] * 2,)), in_front=True)  # two equal heads


EXERCISE = Exercise(
    reference=lambda heads: np.concatenate(heads, axis=-1),
    parts=(
        values(1, MATRICES),
        cases("axes in front", 1, BATCHES,
            "with a batch in front of the matrices, or with equal heads, the result is wrong"),
    ),
    hints=(
        "Look at the lecture's example: how many rows go in, how many come out?",
        "The row of token t is: its row in Y¹, then its row in Y², and so on. Rows get longer, and their number "
        "stays.",
        "`ops.concatenate` joins along any axis. Which axis grows? Count from the end, so that a batch in front has "
        "no effect.",
    ),
    misconceptions=(
        mistake("two-heads-only", "ops.concatenate(heads, axis=-1)", "ops.concatenate([heads[0], heads[1]], axis=-1)",
            hint="You put the first two heads side by side. There may be any number of heads: hand on the whole list."),
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
