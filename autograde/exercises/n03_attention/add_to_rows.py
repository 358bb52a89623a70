"""Adds one vector to each row of a matrix."""

import numpy as np

from autograde.exercises.writing import Case, Exercise, cases, draws, mistake, sized, values

EXAMPLE = Case(([[1, 2], [3, 4], [5, 6]], [10, 20]))


EXERCISE = Exercise(
    reference=lambda x, b: x + np.ones(x.shape[:-1])[..., None] * b,
    parts=(
        values(1, draws(__name__, EXAMPLE, sized(m=70), sized(zeros="x"), in_front=False)),
        cases("axes in front", 1, draws(__name__, in_front=True),
            "with a batch in front of the matrix the result is wrong"),
    ),
    hints=(
        "b has one number per column. Every row gets the whole of b.",
        "Sizes are aligned from the right: (m, n) and (n,) match as they are.",
        "You need not repeat anything: the plus sign broadcasts.",
    ),
    misconceptions=(
        mistake("added-to-columns", "x + b", "x + ops.expand_dims(b, -1)",
            hint="You made b a column, so it is added to every column. A row of x has as many numbers as b: do not "
                 "reshape b."),
        mistake("appended", "x + b", "ops.concatenate([x, ops.expand_dims(b, 0)], axis=0)",
            hint="You appended b to x as one more row. Here b is added to each existing row, element by element."),
        mistake("multiplied", "x + b", "x * b",
            hint="You multiplied by b. That is a scale (γ in LayerNorm, notebook 04); a bias is added."),
    ),
)  # fmt: skip
