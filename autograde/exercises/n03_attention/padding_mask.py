"""Turns the tokenizer's ones and zeros into a mask over keys."""

import numpy as np

from autograde.exercises.n03_attention._shared import LIBRARY_MASKS
from autograde.exercises.writing import Case, Exercise, cases, draws, mistake, sized, values

INPUTS = draws(
    __name__,
    Case(([[1, 1, 1, 0], [0, 0, 1, 1], [0, 0, 0, 0], [1, 0, 1, 0]],)),  # padding behind, in front, alone, between
    sized(tokens=90),
    is_real=2,
)


EXERCISE = Exercise(
    reference=lambda is_real: (is_real == 1)[:, None, :],
    dtype="bool",
    few_inputs=True,
    parts=(
        values(1, INPUTS),
        cases("no padding", 1, [Case((np.ones((2, 4), "int32"),))], "without padding every key may be seen"),
    ),
    forbidden=LIBRARY_MASKS,
    hints=(
        "Compare with 1 to get booleans, then add an axis for the queries.",
        "The mask is (batch, queries, keys). Padding hides keys for all queries: which axis has size 1?",
        "`ops.expand_dims(..., axis=1)` puts the new axis between the other two.",
    ),
    misconceptions=(
        mistake("numbers-for-booleans", "ops.equal(is_real, 1)", "is_real",
            hint="Your mask holds the numbers 1 and 0. Expected booleans (dtype bool): compare with 1, or convert the "
                 'numbers with `ops.cast(x, "bool")`.'),
        mistake("inverted", "ops.equal(is_real, 1)", "ops.equal(is_real, 0)",
            hint="True marks the padding in your mask. True must mean: may be seen."),
        mistake("queries-hidden", "axis=1", "axis=2",
            hint="Your new axis is last: this hides the queries of a [PAD], not its key. Keys are the last axis."),
        mistake("pairs", "return ops.expand_dims(may_be_seen, axis=1)",
            "return ops.logical_and(ops.expand_dims(may_be_seen, 1), ops.expand_dims(may_be_seen, 2))",
            hint="You also hide everything from the padding's own queries. Then their rows see nothing at all; "
                 "their results are never used, so one row per sentence, (batch, 1, tokens), is enough."),
        mistake("no-axis-for-queries", "ops.expand_dims(may_be_seen, axis=1)", "may_be_seen",
            hint="(batch, tokens) would be aligned with (queries, keys) of the scores. Add an axis for the queries: "
                 "(batch, 1, tokens)."),
    ),
)  # fmt: skip
