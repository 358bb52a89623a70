"""The feed-forward network of the original Transformer, applied to every row."""

import numpy as np

from autograde.exercises.n04_encoder_layer._shared import LIBRARY
from autograde.exercises.writing import Case, Exercise, Part, Random, Same, Trial, draws, mistake, sized, values

INPUTS = draws(
    __name__,
    sized(d_e=4, d_mlp=9),
    sized(front=(2,), zeros="x"),
    sized(tokens=70, scale={"x": 50}),
    scale={"w_1": 0.5, "w_2": 0.5},
)


def relu_ffn(x, w_1, b_1, w_2, b_2):
    return np.where(x @ w_1 + b_1 > 0, x @ w_1 + b_1, 0) @ w_2 + b_2


def same_vector_twice(rng: Random) -> list[Trial]:
    """The same vector at two positions gives the same result, and so does a position alone."""
    x, *parameters = INPUTS.case(rng, tokens=5, d_e=4, d_mlp=6).arguments
    x[3] = x[1]
    claims = (Same((0, -2, (1,)), (0, -2, (3,))), Same((0, -2, (1, 4)), (1, -2, (0, 1))))
    return [Trial((Case((x, *parameters)), Case((x[[1, 4]], *parameters))), claims)]


EXERCISE = Exercise(
    reference=relu_ffn,
    parts=(
        values(2, INPUTS),
        Part("each position alone", 1, same_vector_twice,
            "the same vector must give the same result at every position and with any neighbours"),
    ),
    forbidden=LIBRARY,
    facts=lambda case: {"wide": case.arguments[1].shape[-1]},
    hints=(
        "From the inside outwards: product, bias, max with 0, product, bias.",
        "Two functions are called max: `ops.max` finds the largest along an axis, `ops.maximum` compares element by "
        "element.",
        "Only the d_mlp numbers in between must be non-negative; the result may be negative.",
    ),
    misconceptions=(
        mistake("bent-at-the-end",
            "bent = ops.maximum(inner, 0.0)", "bent = inner",
            "ops.matmul(bent, w_2) + b_2", "ops.maximum(ops.matmul(bent, w_2) + b_2, 0.0)",
            hint="You apply ReLU to the result. Apply it between the two products; the result may be negative."),
        mistake("bent-twice", "ops.matmul(bent, w_2) + b_2", "ops.maximum(ops.matmul(bent, w_2) + b_2, 0.0)",
            hint="You apply ReLU in between and again to the result. The formula has one max, before W₂."),
        mistake("no-bend", "ops.maximum(inner, 0.0)", "inner",
            hint="There is no max(0, …) in between. Two linear maps in a row are one linear map."),
        mistake("bent-before",
            "ops.matmul(x, w_1) + b_1", "ops.matmul(ops.maximum(x, 0.0), w_1) + b_1",
            "ops.maximum(inner, 0.0)", "inner",
            hint="You apply ReLU to x, before the first product. Apply it to X W₁ + b₁."),
        mistake("largest-of-all", "ops.maximum(inner, 0.0)", "ops.max(inner, 0)",
            hint="`ops.max` finds the largest number along an axis and removes the axis. `ops.maximum` compares "
                 "each number with 0."),
        mistake("negative-kept", "ops.maximum(inner, 0.0)", "ops.minimum(inner, 0.0)",
            hint="You keep the negative numbers and drop the positive ones: use max instead of min."),
        mistake("no-biases",
            "ops.matmul(x, w_1) + b_1", "ops.matmul(x, w_1)",
            "ops.matmul(bent, w_2) + b_2", "ops.matmul(bent, w_2)",
            hint="The biases b₁ and b₂ are missing."),
    ),
)  # fmt: skip
