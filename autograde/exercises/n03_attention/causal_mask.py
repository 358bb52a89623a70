"""The mask with which no token sees the tokens after it."""

import numpy as np

from autograde.exercises.n03_attention._shared import LIBRARY_MASKS
from autograde.exercises.writing import Case, Exercise, cases, draws, mistake, sized, values


def lower_triangle(tokens: int) -> np.ndarray:
    return np.tril(np.ones((tokens, tokens), bool))


EXERCISE = Exercise(
    reference=lower_triangle,
    dtype="bool",
    parts=(
        values(1, draws(__name__, Case((3,)), sized(tokens=600), least={"tokens": 2})),
        cases("a single token", 1, [Case((1,))], "a sequence of one token must see that token"),
    ),
    forbidden=LIBRARY_MASKS,
    hints=(
        "Write the mask of 3 tokens by hand: 9 cells, row i, column j.",
        "[i, j] is True where j ≤ i: at and below the diagonal.",
        "`ops.arange(tokens)` as a column and as a row, compared, gives the whole matrix.",
    ),
    misconceptions=(
        mistake("diagonal-hidden", "j <= i", "j < i",
            hint="You hide the diagonal too, as two of the lectures do. Then the first token sees nothing: its "
                 "weights are 0/0. A token may see itself: j ≤ i."),
        mistake("backwards", "j <= i", "j >= i",
            hint="Your mask shows the future and hides the past: row i may see j ≥ i. Rows are queries, columns are "
                 "keys."),
        mistake("true-hides", "j <= i", "j > i",
            hint="True marks hidden keys in your mask. True must mean: may be seen."),
        mistake("nobody-hidden", "j <= i", "ops.logical_and(j >= 0, i >= 0)",
            hint="Every token sees every other in your mask. That is BERT's, not the causal one: [i, j] depends on "
                 "i and j."),
    ),
)  # fmt: skip
