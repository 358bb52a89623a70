"""Exact GELU of every element: x · Φ(x)."""

import numpy as np

from autograde.exercises.draws import Random, normal
from autograde.exercises.n04_encoder_layer._shared import LIBRARY, READY_GELU
from autograde.exercises.numpy_bert import gelu
from autograde.exercises.spec import Case, Exercise, Forbidden, Part, Slopes, Trial, mistake, values


def numbers_around_zero(rng: Random) -> list[Case]:
    """The range where GELU bends, and the points of the worked examples."""
    return [
        Case((normal(rng, 3, 5, size=1.5),)),
        Case((np.array([-3, -2.25, -1, -0.75, 0, 0.75, 1, 2.25, 3], "float32"),)),
        Case((np.array([[-40, -6, -4.1, -3.2, -1e-3], [40, 6, 4.1, 3.2, 1e-3]], "float32"),)),
        Case((normal(rng, 2, 1, 3, 2),)),
        Case((normal(rng, 1, 2, 1, 2, 2),)),
        Case((normal(rng, 150, size=2),)),
        Case((normal(rng, size=2),)),  # no axes
    ]


def other_shapes(rng: Random) -> list[Case]:
    return [Case((normal(rng, *shape, size=size),)) for shape, size in (((30,), 3), ((2, 3, 4), 0.1), ((1, 1), 1))]


def slopes_of_gelu(rng: Random) -> list[Trial]:
    x = normal(rng, 3, 4, size=1.5)
    x[0, 0], x[1, 2] = -9, 9  # where Φ is 0 and 1 in float32
    return [Trial((Case((x,)),), (Slopes(normal(rng, 3, 4), {0: normal(rng, 3, 4)}),))]


EXERCISE = Exercise(
    reference=gelu,
    parts=(
        values(2, numbers_around_zero, hidden=other_shapes),
        Part("gradients", 1, slopes_of_gelu, "gradients must pass through it"),
    ),
    forbidden=Forbidden(LIBRARY.because, (*READY_GELU, *LIBRARY.names)),
    hints=(
        "First Φ(x) by its formula with erf, then the product with x. Everything is element by element.",
        "GELU(1) is 0.8413 and GELU(−1) is −0.1587. What do you get?",
        "`ops.erf` takes x / √2, and √2 is `2**0.5`.",
    ),
    misconceptions=(
        mistake("only-phi", "return x * phi", "return phi",
            hint="This is Φ(x), the weight. GELU multiplies x by it: x · Φ(x)."),
        mistake("erf-of-x", "ops.erf(x / 2**0.5)", "ops.erf(x)",
            hint="You take erf of x itself. Φ uses erf(x / √2): erf belongs to a normal distribution of variance ½."),
        mistake("half-forgotten", "0.5 * (1.0 + ops.erf(x / 2**0.5))", "1.0 + ops.erf(x / 2**0.5)",
            hint="Your Φ goes up to 2. A probability ends at 1: ½ (1 + erf(…))."),
        mistake("one-forgotten", "(1.0 + ops.erf(x / 2**0.5))", "ops.erf(x / 2**0.5)",
            hint="Your Φ goes from −½ to ½. A probability starts at 0: ½ (1 + erf(…))."),
        mistake("density", "0.5 * (1.0 + ops.erf(x / 2**0.5))", "ops.exp(-ops.square(x) / 2) / (2 * math.pi) ** 0.5",
            hint="You multiply x by the density at x. Φ(x) is the area to the left of x."),
        mistake("swish", "0.5 * (1.0 + ops.erf(x / 2**0.5))", "ops.sigmoid(x)",
            hint="x · σ(x) is a different function, called SiLU or Swish. Φ is not the logistic function."),
        mistake("sigmoid-approximation", "0.5 * (1.0 + ops.erf(x / 2**0.5))", "ops.sigmoid(1.702 * x)",
            hint="This is the approximation x · σ(1.702 x): up to 0.02 off. Use the exact form here, with erf."),
        mistake("tanh-approximation",
            "0.5 * (1.0 + ops.erf(x / 2**0.5))", "0.5 * (1.0 + ops.tanh((2 / math.pi) ** 0.5 * (x + 0.044715 * x**3)))",
            hint="This is the approximation with tanh: up to 0.0005 off. Use the exact form here, with erf."),
        mistake("out-of-the-graph", "ops.erf(x / 2**0.5)", 'np.vectorize(math.erf)(x / 2**0.5).astype("float32")',
            hint="The values are right, but for the gradient Φ is a constant: it is computed without tensors, or its "
                 "gradient was stopped. Use `ops.erf`."),
    ),
)  # fmt: skip
