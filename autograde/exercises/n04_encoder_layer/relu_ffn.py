"""The feed-forward network of the original Transformer, applied to every row."""

import numpy as np

from autograde.exercises.draws import Random, normal, with_zeros
from autograde.exercises.n04_encoder_layer._shared import LIBRARY, network_parameters
from autograde.exercises.spec import Case, Exercise, Part, Same, Trial, mistake, values


def relu_ffn(x, w_1, b_1, w_2, b_2):
    return np.where(x @ w_1 + b_1 > 0, x @ w_1 + b_1, 0) @ w_2 + b_2


def inputs_of_network(rng: Random) -> list[Case]:
    return [
        Case((normal(rng, 3, 4), *network_parameters(rng, 4, 9))),
        Case((with_zeros(normal(rng, 2, 3, 5)), *network_parameters(rng, 5, 7))),
        Case((normal(rng, 4, 4), *network_parameters(rng, 4, 4))),
        Case((normal(rng, 2, 1, 3, 5), *network_parameters(rng, 5, 3))),
        Case((normal(rng, 2, 1, 2, 1, 3), *network_parameters(rng, 3, 1))),
        Case((50 * normal(rng, 70, 3), *network_parameters(rng, 3, 5))),
    ]


def other_shapes(rng: Random) -> list[Case]:
    d_e, d_mlp = (int(size) for size in rng.integers(1, 12, size=2))
    return [
        Case((normal(rng, *front, 3, d_e), *network_parameters(rng, d_e, d_mlp))) for front in ((), (1,), (2, 1, 2))
    ]


def same_vector_twice(rng: Random) -> list[Trial]:
    """The same vector at two positions gives the same result, and so does a position alone."""
    x = normal(rng, 5, 4)
    x[3] = x[1]
    parameters = network_parameters(rng, 4, 6)
    claims = (Same((0, -2, (1,)), (0, -2, (3,))), Same((0, -2, (1, 4)), (1, -2, (0, 1))))
    return [Trial((Case((x, *parameters)), Case((x[[1, 4]], *parameters))), claims)]


EXERCISE = Exercise(
    reference=relu_ffn,
    parts=(
        values(2, inputs_of_network, hidden=other_shapes),
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
