"""Notebook 04, exercises 4.3 to 4.5: GELU, its approximations, and how wrong they are."""

from autograde.exercises import n04_draws as draws
from autograde.exercises.n04_common import BUILD_IT, LIBRARY, MODULE, NOTEBOOK, READY_GELU
from autograde.exercises.spec import Exercise, Misconception, Part, cases, function, values

GELU = Exercise(
    id="gelu",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="4.3",
    title="GELU",
    minutes=5,
    lines="ETransformer, line 8",
    names=("gelu",),
    arguments=("x",),
    probe=function("gelu"),
    reference=draws.gelu,
    parts=(
        values(2, draws.numbers_around_zero),
        Part("gradients", 1, draws.slopes_of_gelu, "gradients do not pass through it as they should"),
    ),
    forbidden=(*READY_GELU, *LIBRARY),
    forbidden_because=BUILD_IT,
    hints=(
        "First Φ(x) by its formula with erf, then the product with x. Everything is element by element.",
        "GELU(1) is 0.8413 and GELU(−1) is −0.1587. What do you get?",
        "`ops.erf` takes x / √2, and √2 is `2**0.5`.",
    ),
    misconceptions=(
        Misconception(
            "only-phi",
            "This is Φ(x), the weight. GELU weighs x with it: x · Φ(x).",
            (("return x * phi", "return phi"),),
        ),
        Misconception(
            "erf-of-x",
            "You take erf of x itself. In Φ it is erf(x / √2): erf belongs to a bell curve of variance ½.",
            (("ops.erf(x / 2**0.5)", "ops.erf(x)"),),
        ),
        Misconception(
            "half-forgotten",
            "Your Φ goes up to 2. A probability ends at 1: ½ (1 + erf(…)).",
            (("0.5 * (1.0 + ops.erf(x / 2**0.5))", "1.0 + ops.erf(x / 2**0.5)"),),
        ),
        Misconception(
            "one-forgotten",
            "Your Φ goes from −½ to ½. A probability starts at 0: ½ (1 + erf(…)).",
            (("(1.0 + ops.erf(x / 2**0.5))", "ops.erf(x / 2**0.5)"),),
        ),
        Misconception(
            "density",
            "You weigh x with the height of the bell curve at x. Φ(x) is the area to the left of x.",
            (("0.5 * (1.0 + ops.erf(x / 2**0.5))", "ops.exp(-ops.square(x) / 2) / (2 * math.pi) ** 0.5"),),
        ),
        Misconception(
            "swish",
            "x · σ(x) is another function, called SiLU or Swish. Φ is not the logistic curve.",
            (("0.5 * (1.0 + ops.erf(x / 2**0.5))", "ops.sigmoid(x)"),),
        ),
        Misconception(
            "sigmoid-approximation",
            "This is the approximation x · σ(1.702 x): up to 0.02 off. Here you want the exact form, with erf.",
            (("0.5 * (1.0 + ops.erf(x / 2**0.5))", "ops.sigmoid(1.702 * x)"),),
        ),
        Misconception(
            "tanh-approximation",
            "This is the approximation with tanh: up to 0.0005 off. Here you want the exact form, with erf.",
            (
                (
                    "0.5 * (1.0 + ops.erf(x / 2**0.5))",
                    "0.5 * (1.0 + ops.tanh((2 / math.pi) ** 0.5 * (x + 0.044715 * x**3)))",
                ),
            ),
        ),
        Misconception(
            "out-of-the-graph",
            "The values are right, but erf is taken outside the tensors: gradients take Φ for a constant. `ops.erf` "
            "lets them through.",
            (("ops.erf(x / 2**0.5)", 'np.vectorize(math.erf)(x / 2**0.5).astype("float32")'),),
        ),
    ),
)

GELU_APPROXIMATIONS = Exercise(
    id="gelu-approximations",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="4.4",
    title="Two cheaper ones",
    minutes=5,
    lines="",
    names=("gelu_approximation",),
    arguments=("x", "kind"),
    probe=function("gelu_approximation"),
    reference=draws.gelu_approximation,
    parts=(
        values(2, draws.both_kinds),
        cases("far out", 1, draws.far_from_zero, "far from 0 it must be nearly ReLU: 0 on the left, x on the right"),
    ),
    forbidden=(*READY_GELU, *LIBRARY),
    forbidden_because=BUILD_IT,
    hints=(
        "Two formulas, one `if`. Read them from the inside outwards.",
        "Far to the right both must give x, far to the left 0: what do σ and tanh give there?",
        "For tanh: first x + 0.044715 x³, then times √(2/π), then tanh, then ½ x (1 + …). √(2/π) is "
        "`(2 / math.pi) ** 0.5`.",
    ),
    misconceptions=(
        Misconception(
            "kinds-exchanged",
            'The two formulas have changed places: "sigmoid" gives the one with tanh.',
            (('kind == "sigmoid"', 'kind == "tanh"'),),
        ),
        Misconception(
            "plain-sigmoid",
            "x · σ(x) is SiLU. The 1.702 inside is what makes σ as steep as Φ.",
            (("ops.sigmoid(1.702 * x)", "ops.sigmoid(x)"),),
        ),
        Misconception(
            "factor-outside",
            "1.702 stands before σ in your code, so everything is too large. It belongs inside, beside x.",
            (("ops.sigmoid(1.702 * x)", "1.702 * ops.sigmoid(x)"),),
        ),
        Misconception(
            "root-forgotten",
            "You multiply by 2/π = 0.6366; the formula has its root, √(2/π) = 0.7979.",
            (("(2 / math.pi) ** 0.5", "(2 / math.pi)"),),
        ),
        Misconception(
            "cube-forgotten",
            "The term with x³ is missing. It makes the curve follow Φ further out.",
            (("(x + 0.044715 * x**3)", "x"),),
        ),
        Misconception(
            "squared",
            "You have x² where the formula has x³. A square has no sign, so left and right no longer match.",
            (("x**3", "x**2"),),
        ),
        Misconception(
            "tanh-from-minus-one",
            "tanh runs from −1 to 1, a weight from 0 to 1: ½ (1 + tanh(…)).",
            (("(1.0 + ops.tanh(inside))", "ops.tanh(inside)"),),
        ),
    ),
)

WORST_POINT = Exercise(
    id="worst-point",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="4.5",
    title="How wrong, and where?",
    minutes=3,
    lines="",
    names=("worst_point",),
    arguments=("x", "exact", "approximate"),
    probe=function("worst_point"),
    reference=draws.worst_point,
    parts=(values(2, draws.two_functions),),
    hints=(
        "First the distance at every place, then the place where it is largest.",
        "`ops.argmax` gives the index of the largest; the place is x at that index.",
        "`ops.stack([a, b])` makes a tensor of shape (2,) from two numbers.",
    ),
    misconceptions=(
        Misconception(
            "signed",
            "You look for the largest difference with its sign. Here the approximation is farthest off *below* the "
            "exact function: a distance has no sign.",
            (("ops.abs(approximate - exact)", "approximate - exact"),),
        ),
        Misconception(
            "index-for-place",
            "The first number is the index, not the place: x at that index.",
            (("x[worst]", 'ops.cast(worst, "float32")'),),
        ),
        Misconception(
            "relative",
            "You divide the distance by the exact value. A relative error is another question, and near 0 it explodes.",
            (("ops.abs(approximate - exact)", "ops.abs(approximate - exact) / ops.abs(exact)"),),
        ),
        Misconception(
            "squared",
            "The second number is the distance squared. At the same place, but not a distance.",
            (("ops.abs(approximate - exact)", "ops.square(approximate - exact)"),),
        ),
        Misconception(
            "mean-distance",
            "The second number is the mean distance. How far off it is at worst is the largest.",
            (("distance[worst]]", "ops.mean(distance)]"),),
        ),
        Misconception(
            "exchanged",
            "The two numbers have changed places: first where, then how much.",
            (("[x[worst], distance[worst]]", "[distance[worst], x[worst]]"),),
        ),
    ),
)
