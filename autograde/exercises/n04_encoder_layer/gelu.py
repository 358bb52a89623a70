"""GELU of every element, x · Φ(x), or one of its approximations."""

import math

import numpy as np

from autograde.exercises.draws import Random, normal
from autograde.exercises.n04_encoder_layer._shared import LIBRARY, READY_GELU
from autograde.exercises.numpy_bert import gelu as exact_gelu
from autograde.exercises.spec import Case, Exercise, Forbidden, Part, Reference, Slopes, Trial, cases, mistake, values

CHEAP = ("sigmoid", "tanh")
SIGMOID, TANH = "ops.sigmoid(1.702 * x)", "(x + 0.044715 * x**3)"
EXACT = "0.5 * (1.0 + ops.erf(x / 2**0.5))"


def gelu(x, kind="exact"):
    if kind == "exact":
        return exact_gelu(x)
    if kind == "sigmoid":
        return np.asarray(x / (1 + np.exp(-1.702 * x)))
    return np.asarray(x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))))


def numbers_around_zero(rng: Random) -> list[Case]:
    """The range where GELU bends, and the points of the worked examples; the kind is left out, or stated."""
    return [
        Case((normal(rng, 3, 5, size=1.5),)),
        Case((np.array([-3, -2.25, -1, -0.75, 0, 0.75, 1, 2.25, 3], "float32"),)),
        Case((np.array([[-40, -6, -4.1, -3.2, -1e-3], [40, 6, 4.1, 3.2, 1e-3]], "float32"), "exact")),
        Case((normal(rng, 2, 1, 3, 2), "exact")),
        Case((normal(rng, 1, 2, 1, 2, 2),)),
        Case((normal(rng, 150, size=2),)),
        Case((normal(rng, size=2),)),  # no axes
    ]


def rows_and_blocks(rng: Random) -> list[Case]:
    return [Case((normal(rng, *shape, size=size),)) for shape, size in (((30,), 3), ((2, 3, 4), 0.1), ((1, 1), 1))]


def both_kinds(rng: Random) -> list[Trial]:
    numbers = (
        normal(rng, 3, 5, size=2),
        np.linspace(-3, 3, 9).astype("float32"),
        normal(rng, 2, 1, 2, 1, 3),
        normal(rng, 150, size=2),
        normal(rng, size=2),  # no axes
    )
    return [*(Trial((Case((x, kind)),)) for x in numbers for kind in CHEAP), last_digits(rng)]


def last_digits(rng: Random) -> Trial:
    """A result that is small beside x: there the last digits of 0.044715 are more than rounding."""
    case = Case((-rng.uniform(1.5, 2, size=12).astype("float32"), "tanh"))
    return Trial((case,), (Reference(rtol=2e-5),))


def rows_and_blocks_of_both(rng: Random) -> list[Trial]:
    numbers = (normal(rng, 40, size=3), normal(rng, 1, 2, 1, 3), np.float32([0]))
    return [Trial((Case((x, kind)),)) for x in numbers for kind in CHEAP]


def far_from_zero(rng: Random) -> list[Case]:
    """Also where the powers of a σ or tanh that is written by hand are too large for float32."""
    x = (rng.choice([-1, 1], size=8) * rng.uniform(6, 30, size=8)).astype("float32")
    x[[1, 2, 4]] = 100, -4, -100  # at -4 the three functions still differ
    return [Case((x, "sigmoid")), Case((x, "tanh"))]


def slopes_of_gelu(rng: Random) -> list[Trial]:
    x = normal(rng, 3, 4, size=1.5)
    x[0, 0], x[1, 2] = -9, 9  # where Φ is 0 and 1 in float32
    return [Trial((Case((x,)),), (Slopes(normal(rng, 3, 4), {0: normal(rng, 3, 4)}),))]


EXERCISE = Exercise(
    reference=gelu,
    parts=(
        values(1, numbers_around_zero, hidden=rows_and_blocks),
        Part("approximations", 1, both_kinds, "the two approximations, each by its formula",
            hidden=rows_and_blocks_of_both),
        cases("far from zero", 1, far_from_zero, "far from 0 it must be nearly ReLU: 0 on the left, x on the right"),
        Part("gradients", 1, slopes_of_gelu, "gradients must pass through it"),
    ),
    forbidden=Forbidden(LIBRARY.because, (*READY_GELU, *LIBRARY.names)),
    hints=(
        "First the weight, for each kind by its formula, then the product with x. Everything is element by element.",
        "GELU(1) is 0.8413 and GELU(−1) is −0.1587. What do you get?",
        "`ops.erf` takes x / √2, and √2 is `2**0.5`. Far to the right all three must give x, far to the left 0.",
        "For tanh: first x + 0.044715 x³, then times √(2/π), which is `(2 / math.pi) ** 0.5`, then tanh, then "
        "½ x (1 + …).",
    ),
    misconceptions=(
        mistake("only-phi", "return x * weight", "return weight",
            hint="This is Φ(x), the weight. GELU multiplies x by it: x · Φ(x)."),
        mistake("erf-of-x", "ops.erf(x / 2**0.5)", "ops.erf(x)",
            hint="You take erf of x itself. Φ uses erf(x / √2): erf belongs to a normal distribution of variance ½."),
        mistake("half-forgotten", EXACT, "1.0 + ops.erf(x / 2**0.5)",
            hint="Your Φ goes up to 2. A probability ends at 1: ½ (1 + erf(…))."),
        mistake("one-forgotten", "(1.0 + ops.erf(x / 2**0.5))", "ops.erf(x / 2**0.5)",
            hint="Your Φ goes from −½ to ½. A probability starts at 0: ½ (1 + erf(…))."),
        mistake("density", EXACT, "ops.exp(-ops.square(x) / 2) / (2 * math.pi) ** 0.5",
            hint="You multiply x by the density at x. Φ(x) is the area to the left of x."),
        mistake("swish", EXACT, "ops.sigmoid(x)",
            hint="x · σ(x) is a different function, called SiLU or Swish. Φ is not the logistic function."),
        mistake("sigmoid-approximation", EXACT, "ops.sigmoid(1.702 * x)",
            hint='This is the approximation x · σ(1.702 x): up to 0.02 off. "exact" needs erf.'),
        mistake("tanh-approximation", EXACT, "0.5 * (1.0 + ops.tanh((2 / math.pi) ** 0.5 * (x + 0.044715 * x**3)))",
            hint='This is the approximation with tanh: up to 0.0005 off. "exact" needs erf.'),
        mistake("out-of-the-graph", "ops.erf(x / 2**0.5)", 'np.vectorize(math.erf)(x / 2**0.5).astype("float32")',
            hint="The values are right, but for the gradient Φ is a constant: it is computed without tensors, or its "
                 "gradient was stopped. Use `ops.erf`."),
        mistake("always-exact", 'if kind == "exact":', "if kind:",
            hint="You return the exact function for every `kind`. The other two have formulas of their own."),
        mistake("kinds-exchanged", 'kind == "sigmoid"', 'kind == "tanh"',
            hint='You swapped two formulas: "sigmoid" gives the one with tanh.'),
        mistake("plain-sigmoid", SIGMOID, "ops.sigmoid(x)",
            hint="x · σ(x) is SiLU. The 1.702 inside makes σ as steep as Φ."),
        mistake("factor-outside", SIGMOID, "1.702 * ops.sigmoid(x)",
            hint="1.702 is before σ in your code, so everything is too large. Move it inside, beside x."),
        mistake("root-of-two-only", "(2 / math.pi) ** 0.5", "2**0.5 / math.pi",
            hint="You take the root of 2 and divide by π. The root is of the whole fraction: √(2/π)."),
        mistake("root-forgotten", "(2 / math.pi) ** 0.5", "(2 / math.pi)",
            hint="You multiply by 2/π = 0.6366; the formula has its square root, √(2/π) = 0.7979."),
        mistake("cube-forgotten", TANH, "x",
            hint="The term with x³ is missing. It improves the approximation far from 0."),
        mistake("squared", "x**3", "x**2",
            hint="You have x² where the formula has x³. A square has no sign, so left and right differ."),
        mistake("tanh-from-minus-one", "(1.0 + ops.tanh(inside))", "ops.tanh(inside)",
            hint="tanh runs from −1 to 1, a weight from 0 to 1: ½ (1 + tanh(…))."),
    ),
)  # fmt: skip
