"""Turns the tokenizer's ones and zeros into a mask over keys."""

import numpy as np

from autograde.exercises.draws import Random
from autograde.exercises.n03_attention._shared import LIBRARY_MASKS
from autograde.exercises.spec import Case, Exercise, cases, mistake, values


def ones_and_zeros(rng: Random) -> list[Case]:
    lengths = rng.integers(1, 5, size=3)
    anywhere = rng.permuted(np.tile([1, 1, 0, 0, 0], (4, 1)), axis=1)
    anywhere[0], anywhere[1] = [0, 0, 1, 1, 1], 0  # padding in front; a row of padding alone
    real = [np.arange(5) < lengths[:, None], anywhere, np.array([[1, 1, 0]]), np.eye(4), np.array([[1], [0], [1]])]
    real += [np.arange(90) < np.array([[70], [90]])]
    return [Case((one.astype("int32"),)) for one in real]


def other_sizes(rng: Random) -> list[Case]:
    sizes = ((1, 1), (3, 3), tuple(int(size) for size in rng.integers(2, 40, size=2)))
    return [Case((rng.integers(0, 2, size=size).astype("int32"),)) for size in sizes]


def nothing_padded(rng: Random) -> list[Case]:
    return [Case((np.ones((2, 4), "int32"),))]


EXERCISE = Exercise(
    reference=lambda is_real: (is_real == 1)[:, None, :],
    dtype="bool",
    few_inputs=True,
    parts=(
        values(1, ones_and_zeros, hidden=other_sizes),
        cases("no padding", 1, nothing_padded, "without padding every key may be seen"),
    ),
    forbidden=LIBRARY_MASKS,
    hints=(
        "Compare with 1 to get booleans, then add an axis for the queries.",
        "The mask is (batch, queries, keys). Padding hides keys for all queries: which axis has size 1?",
        "`ops.expand_dims(..., axis=1)` puts the new axis between the other two.",
    ),
    misconceptions=(
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
