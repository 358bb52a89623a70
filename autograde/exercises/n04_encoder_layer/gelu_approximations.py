"""An approximation of GELU."""

import math

import numpy as np

from autograde.exercises.draws import Random, normal
from autograde.exercises.n04_encoder_layer._shared import LIBRARY, READY_GELU
from autograde.exercises.spec import Case, Exercise, Forbidden, Part, Reference, Trial, cases, mistake


def gelu_approximation(x, kind):
    if kind == "sigmoid":
        return np.asarray(x / (1 + np.exp(-1.702 * x)))
    return np.asarray(x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))))


def both_kinds(rng: Random) -> list[Case]:
    numbers = (
        normal(rng, 3, 5, size=2),
        np.linspace(-3, 3, 9).astype("float32"),
        normal(rng, 2, 1, 2, 1, 3),
        normal(rng, 150, size=2),
        normal(rng, size=2),  # no axes
    )
    return [Case((x, kind)) for x in numbers for kind in ("sigmoid", "tanh")]


def drawn_numbers(rng: Random) -> list[Trial]:
    return [*(Trial((case,)) for case in both_kinds(rng)), last_digits(rng)]


def last_digits(rng: Random) -> Trial:
    """A result that is small beside x: there the last digits of 0.044715 are more than rounding."""
    case = Case((-rng.uniform(1.5, 2, size=12).astype("float32"), "tanh"))
    return Trial((case,), (Reference(rtol=2e-5),))


def other_shapes(rng: Random) -> list[Case]:
    numbers = (normal(rng, 40, size=3), normal(rng, 1, 2, 1, 3), np.float32([0]))
    return [Case((x, kind)) for x in numbers for kind in ("sigmoid", "tanh")]


def far_from_zero(rng: Random) -> list[Case]:
    """Also where the powers of a σ or tanh that is written by hand are too large for float32."""
    x = (rng.choice([-1, 1], size=8) * rng.uniform(6, 30, size=8)).astype("float32")
    x[[1, 4]] = 100, -100
    return [Case((x, "sigmoid")), Case((x, "tanh"))]


EXERCISE = Exercise(
    reference=gelu_approximation,
    parts=(
        Part("values", 2, drawn_numbers, hidden=lambda rng: [Trial((case,)) for case in other_shapes(rng)]),
        cases("far from zero", 1, far_from_zero, "far from 0 it must be nearly ReLU: 0 on the left, x on the right"),
    ),
    forbidden=Forbidden(LIBRARY.because, (*READY_GELU, *LIBRARY.names)),
    hints=(
        "Two formulas, one `if`. Read them from the inside outwards.",
        "Far to the right both must give x, far to the left 0: what are σ and tanh there?",
        "For tanh: first x + 0.044715 x³, then times √(2/π), then tanh, then ½ x (1 + …). √(2/π) is `(2 / math.pi) ** "
        "0.5`.",
    ),
    misconceptions=(
        mistake("root-of-two-only", "(2 / math.pi) ** 0.5", "2**0.5 / math.pi",
            hint="You take the root of 2 and divide by π. The root is of the whole fraction: √(2/π)."),
        mistake("kinds-exchanged", 'kind == "sigmoid"', 'kind == "tanh"',
            hint='You swapped the two formulas: "sigmoid" gives the one with tanh.'),
        mistake("plain-sigmoid", "ops.sigmoid(1.702 * x)", "ops.sigmoid(x)",
            hint="x · σ(x) is SiLU. The 1.702 inside makes σ as steep as Φ."),
        mistake("factor-outside", "ops.sigmoid(1.702 * x)", "1.702 * ops.sigmoid(x)",
            hint="1.702 is before σ in your code, so everything is too large. Move it inside, beside x."),
        mistake("root-forgotten", "(2 / math.pi) ** 0.5", "(2 / math.pi)",
            hint="You multiply by 2/π = 0.6366; the formula has its square root, √(2/π) = 0.7979."),
        mistake("cube-forgotten", "(x + 0.044715 * x**3)", "x",
            hint="The term with x³ is missing. It improves the approximation far from 0."),
        mistake("squared", "x**3", "x**2",
            hint="You have x² where the formula has x³. A square has no sign, so left and right differ."),
        mistake("tanh-from-minus-one", "(1.0 + ops.tanh(inside))", "ops.tanh(inside)",
            hint="tanh runs from −1 to 1, a weight from 0 to 1: ½ (1 + tanh(…))."),
    ),
)  # fmt: skip
