"""Softmax of each row; it and its gradients are finite for scores of any size."""

import numpy as np

from autograde.exercises.draws import Random, draws, normal, sized
from autograde.exercises.numpy_bert import softmax
from autograde.exercises.writing import Case, Exercise, Forbidden, Part, Reference, Slopes, Sums, Trial, mistake

INPUTS = draws(__name__, sized(m=2, n=150), scale={"a": 2})
LARGE = draws(__name__, scale={"a": 500})


def large_scores(rng: Random) -> list[Trial]:
    """Scores whose exp exceeds float32, such a row beside an ordinary one, also with gradients, and equal scores."""
    rows = normal(rng, 3, 6) + np.array([[100], [500], [1000]], "float32")
    peaks = normal(rng, 3, 6)
    peaks[[0, 1, 2], [1, 4, 2]] = [1000, 300, 95]  # one large score among small ones: also far above the mean
    masked = normal(rng, 2, 3, 5)
    masked[0, 1, :4], masked[1, :, 2:] = -1e9, -1e9
    both = np.stack([rows, -peaks])
    equal = np.repeat(np.array([[90], [-500], [1000]], "float32"), 5, axis=1)
    slopes = Slopes(normal(rng, 6, 6), {0: normal(rng, 6, 6)})
    return [
        *(Trial((Case((scores,)),), (Reference(), Sums(1.0)))
          for scores in (rows, peaks, -rows, -peaks, masked, both, equal)),
        Trial((Case((np.concatenate([peaks, normal(rng, 3, 6)]),)),), (slopes,)),
    ]  # fmt: skip


def rows_far_apart(rng: Random) -> list[Trial]:
    """One row after the other, and with axes in front: the far row is in the same matrix, or in another."""
    apart = np.array([[0], [-400], [-900]], "float32")
    rows = [normal(rng, *front, 3, 5) + apart for front in ((), (2,), (2, 2))]
    rows.append(normal(rng, 3, 2, 5) + apart[..., None])
    return [Trial((Case((scores,)),), (Reference(), Sums(1.0))) for scores in rows]


EXERCISE = Exercise(
    reference=softmax,
    parts=(
        Part("values", 1, INPUTS.with_gradients),
        Part("large scores", 1, large_scores,
            "large scores, also equal ones, must give the weights of the formula: shift them, do not cut them off",
            lambda rng: [Trial((case,)) for case in LARGE.hidden(rng)]),
        Part("rows far apart", 1, rows_far_apart, "a row far below the others must give its own weights"),
    ),
    forbidden=Forbidden(
        "In this exercise you write softmax yourself. In other exercises you may use the ready-made one.",
        ("keras.ops.softmax", "keras.ops.log_softmax", "keras.activations.softmax", "keras.layers.Softmax",
         "tensorflow.nn.softmax", "tensorflow.nn.log_softmax", "tensorflow.sparse.softmax",
         "tensorflow.raw_ops.SparseSoftmax", "scipy.special.softmax", "scipy.special.log_softmax"),
    ),
    hints=(
        "Three steps: shift each row so that its largest score is 0, take exp, divide by each row's sum.",
        "Both the largest score and the sum are one number per row: `axis=-1`.",
        "To divide an (m, n) matrix by one number per row, the numbers must have shape (m, 1): `keepdims=True`.",
    ),
    misconceptions=(
        mistake("columns",
            "ops.max(a, axis=-1,", "ops.max(a, axis=-2,",
            "ops.sum(powers, axis=-1,", "ops.sum(powers, axis=-2,",
            hint="Your columns sum to 1, not your rows. A row belongs to one query: sum over the last axis."),
        mistake("whole-matrix",
            "ops.max(a, axis=-1, keepdims=True)", "ops.max(a)",
            "ops.sum(powers, axis=-1, keepdims=True)", "ops.sum(powers)",
            hint="The whole matrix sums to 1. Each row must sum to 1."),
        mistake("unstable", "a - ops.max(a, axis=-1, keepdims=True)", "a",
            hint="Right for small scores. For large ones exp overflows: ∞/∞ is NaN. Shift each row first, so that "
                 "its largest score is 0."),
        mistake("one-maximum-for-all", "ops.max(a, axis=-1, keepdims=True)", "ops.max(a)",
            hint="You shift by the largest score of the whole matrix. A row far below it becomes exp(very negative) "
                 "= 0 everywhere, and 0/0 is NaN. Shift each row by its own largest score."),
        mistake("sum-lost-its-axis", "ops.sum(powers, axis=-1, keepdims=True)", "ops.sum(powers, axis=-1)",
            hint="The sums have shape (m,) and are aligned with the columns: row i is divided by the sums of all "
                 "rows in turn. `keepdims=True` keeps them as a column."),
        mistake("no-exp",
            "a - ops.max(a, axis=-1, keepdims=True)", "a",
            "ops.exp(shifted)", "shifted",
            hint="You divide the scores themselves by their sum. Scores may be negative; apply exp first."),
    ),
)  # fmt: skip
