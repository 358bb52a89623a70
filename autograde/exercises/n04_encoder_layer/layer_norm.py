"""Normalises each row to mean 0 and variance 1, then scales and shifts it."""

import numpy as np

from autograde.exercises.draws import Random, normal
from autograde.exercises.n04_encoder_layer._shared import LIBRARY, READY_NORMS, scale_and_offset
from autograde.exercises.numpy_bert import layer_norm
from autograde.exercises.spec import Case, Exercise, Forbidden, Part, Same, Slopes, Trial, cases, mistake, values


def rows_to_normalise(rng: Random) -> list[Case]:
    by_hand = Case((np.array([[1, 2, 3, 4]], "float32"), np.ones(4, "float32"), np.zeros(4, "float32")), note="by hand")
    return [
        Case((1 + rows(rng, 5, 5), *scale_and_offset(rng, 5))),
        Case((rows(rng, 2, 3, 6) - 1, *scale_and_offset(rng, 6))),
        by_hand,
        Case((rows(rng, 2, 2, 3, 4), *scale_and_offset(rng, 4))),
        Case((rows(rng, 1, 7), *scale_and_offset(rng, 7))),
        Case((rows(rng, 2, 1, 2, 2, 3), *scale_and_offset(rng, 3))),
        Case((500 * normal(rng, 2, 150), *scale_and_offset(rng, 150))),
    ]


def rows(rng: Random, *shape: int) -> np.ndarray:
    """Rows whose variance is at least 1, so an ε of 10⁻⁵ changes nothing in any draw: ε has a part of its own."""
    drawn = normal(rng, *shape, size=2)
    while (narrow := drawn.std(axis=-1) < 1).any():
        drawn[narrow] = normal(rng, int(narrow.sum()), shape[-1], size=2)
    return drawn


def rows_behind_other_axes(rng: Random) -> list[Case]:
    tokens, d = int(rng.integers(1, 9)), int(rng.integers(3, 40))
    return [Case((rows(rng, *front, tokens, d), *scale_and_offset(rng, d))) for front in ((), (1,), (2, 1, 2))]


def rows_that_need_epsilon(rng: Random) -> list[Case]:
    """Rows whose variance is as small as ε or 0. With BERT's ε zeros only: another constant leaves rounding / 10⁻⁶."""
    small = normal(rng, 3, 6, size=0.1)
    small[1] = small[1, 0]
    return [
        Case((small, *scale_and_offset(rng, 6)), {"epsilon": 0.01}),
        Case((normal(rng, 3, 6, size=2e-5), *scale_and_offset(rng, 6))),
        Case((normal(rng, 2, 3, 6), *scale_and_offset(rng, 6)), {"epsilon": 0.5}),
        Case((np.zeros((2, 8), "float32"), *scale_and_offset(rng, 8))),
    ]


def each_row_alone(rng: Random) -> list[Trial]:
    """A row's result does not depend on other rows, nor on its own scale and mean. Gradients pass through."""
    x, parameters = rows(rng, 4, 6), scale_and_offset(rng, 6)
    slopes = Slopes(normal(rng, 4, 6), {0: normal(rng, 4, 6), 1: normal(rng, 6), 2: normal(rng, 6)})
    stretched = 3 * x[[2, 0]] + np.float32(2)
    return [
        Trial(
            (Case((x, *parameters)), Case((stretched, *parameters))), (Same((0, -2, (2, 0)), (1, -2, (0, 1))), slopes)
        )
    ]


EXERCISE = Exercise(
    reference=layer_norm,
    parts=(
        values(2, rows_to_normalise, hidden=rows_behind_other_axes),
        cases("epsilon", 1, rows_that_need_epsilon, "where the variance is as small as ε, or 0, the result is "
                                                    "different"),
        Part("each row independently", 1, each_row_alone,
            "a row must give the same result without the others, and when it is scaled or shifted as a whole; "
            "gradients must pass through"),
    ),
    forbidden=Forbidden(LIBRARY.because, (*READY_NORMS, *LIBRARY.names)),
    facts=lambda case: {"d": case.arguments[0].shape[-1], "less": case.arguments[0].shape[-1] - 1},
    hints=(
        "Three lines, as in the algorithm: mean, variance, and the fraction with γ and β. One mean per row.",
        "To subtract one number per row, keep its axis: `ops.mean(x, axis=-1, keepdims=True)`.",
        "The variance is the mean of the squared deviations; add ε to it before you take the root.",
    ),
    misconceptions=(
        mistake("axis-from-the-front",
            "ops.mean(x, axis=-1, keepdims=True)", "ops.mean(x, axis=1, keepdims=True)",
            "ops.mean(ops.square(x - mean), axis=-1, keepdims=True)",
            "ops.mean(ops.square(x - mean), axis=1, keepdims=True)",
            hint="Your axis is 1, counted from the front: with a batch in front of the matrix these are the tokens. "
                 "The last axis is −1, for any number of axes."),
        mistake("over-the-tokens",
            "ops.mean(x, axis=-1, keepdims=True)", "ops.mean(x, axis=-2, keepdims=True)",
            "ops.mean(ops.square(x - mean), axis=-1, keepdims=True)",
            "ops.mean(ops.square(x - mean), axis=-2, keepdims=True)",
            hint="You take mean and variance down each column, over the tokens. Batch normalization does that; "
                 "LayerNorm uses each row, one token's {d} numbers, by itself."),
        mistake("axis-lost",
            "ops.mean(x, axis=-1, keepdims=True)", "ops.mean(x, axis=-1)",
            "ops.mean(ops.square(x - mean), axis=-1, keepdims=True)", "ops.var(x, axis=-1)",
            hint="The mean and the variance have lost their last axis, so they are subtracted from columns instead of "
                 "rows. Keep it: `keepdims=True`."),
        mistake("one-mean-for-all",
            "ops.mean(x, axis=-1, keepdims=True)", "ops.mean(x)",
            "ops.mean(ops.square(x - mean), axis=-1, keepdims=True)", "ops.mean(ops.square(x - mean))",
            hint="There is one mean and one variance for the whole matrix. Each row needs its own: `axis=-1`, with "
                 "the axis kept."),
        mistake("divided-by-one-less", "ops.mean(ops.square(x - mean), axis=-1, keepdims=True)",
            "ops.sum(ops.square(x - mean), axis=-1, keepdims=True) / (x.shape[-1] - 1)",
            hint="Your variance is a sum over {d} numbers divided by {less}. That corrects an estimate from a "
                 "sample; here the vector is complete, and line 3 divides by d = {d}."),
        mistake("epsilon-outside", "ops.sqrt(variance + epsilon)", "(ops.sqrt(variance) + epsilon)",
            hint="ε is outside the root in your code, σ + ε, as in one of the lectures. It belongs inside: √(v + "
                 "ε). The two differ where the variance is small."),
        mistake("fixed-epsilon", "ops.sqrt(variance + epsilon)", "ops.sqrt(variance + 1e-12)",
            hint="The argument `epsilon` has no effect: a fixed number is used. Add `epsilon` to v."),
        mistake("keras-epsilon", "epsilon: float = 1e-12", "epsilon: float = 1e-3",
            hint="Your ε is 0.001 where none is given, as in Keras. BERT's is 1e-12: a vector of small numbers is "
                 "scaled up all the same."),
        mistake("no-epsilon", "ops.sqrt(variance + epsilon)", "ops.sqrt(variance)",
            hint="There is no ε in your root. A row of equal numbers has variance 0, and 0/0 is NaN: √(v + ε)."),
        mistake("divided-by-variance", "ops.sqrt(variance + epsilon)", "(variance + epsilon)",
            hint="You divide by the variance itself. Divide by its root, the standard deviation."),
        mistake("not-centred", "ops.mean(x, axis=-1, keepdims=True)", "0.0",
            hint="You divide by the root mean square and never subtract the mean. That is RMSNorm (m = 0); "
                 "LayerNorm subtracts the mean first."),
        mistake("no-scale-and-offset", "return normalised * gamma + beta", "return normalised",
            hint="This is the normalised row, without γ and β. Line 4 continues: ⊙ γ + β."),
        mistake("offset-scaled-too", "normalised * gamma + beta", "(normalised + beta) * gamma",
            hint="You add β before you multiply by γ, so β is scaled as well. First γ, then β."),
    ),
)  # fmt: skip
