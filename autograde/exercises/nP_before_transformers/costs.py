"""Table 1 of Vaswani et al. 2017: operations, steps one after the other, longest path, of three layers."""

from autograde.exercises.writing import Case, Exercise, Random, cases, mistake, plain_function, values


def costs(n, d, k):
    reach, layers = k, 1
    while reach < n:
        reach, layers = reach * k, layers + 1
    return {"attention": (n * n * d, 1, 1), "recurrence": (n * d * d, n, n), "convolution": (n * k * d * d, 1, layers)}


def between_powers(rng: Random, most: tuple[int, int, int]) -> Case:
    """Sizes n, d, k below these, where n is not a power of k; powers have a part of their own."""
    while True:
        n, d, k = map(int, rng.integers((2, 3, 2), most))
        if n not in [k**layers for layers in range(1, 13)]:
            return Case((n, d, k))


def lengths(rng: Random) -> list[Case]:
    """Sizes as in the original Transformer; n above and below d; more operations than 32 bits can count."""
    base = Case((70, 512, 3), note="the width of the original Transformer")
    long = Case((50_000, 1024, 5))
    return [base, long, *(between_powers(rng, (900, 900, 9)) for _ in range(4))]


def powers(rng: Random) -> list[Case]:
    """n is a power of k, or next to one: the logarithm is whole there, and rounding shows."""
    return [
        Case((125, 64, 5)),
        Case((243, 8, 3)),
        Case((244, 8, 3)),
        Case((2, 5, 2)),
        Case((3, 4, 7)),
        Case((1000, 7, 10)),
    ]


def others(rng: Random) -> list[Case]:
    return [between_powers(rng, (5000, 2000, 12)) for _ in range(2)]


def other_powers(rng: Random) -> list[Case]:
    return [Case((k**power, 6, k)) for k, power in rng.integers((2, 2), (12, 5), size=(3, 2)).tolist()]


EXERCISE = Exercise(
    probe=plain_function(),
    returns="dict",
    reference=costs,
    parts=(
        values(2, lengths, hidden=others),
        cases("whole powers", 1, powers, "where n is a power of k, or next to one, the number of layers is wrong",
            hidden=other_powers),
    ),
    facts=lambda case: dict(zip("ndk", case.arguments)),
    hints=(
        "The table has no numbers but formulas in n, d and k: write each entry as a product.",
        "One convolution joins k neighbours; two layers, with gaps, k · k. How many layers until k · k · … reaches n?",
        "Count the layers in a loop. A logarithm of floats is not exact: `math.log(125, 5)` is a little more than 3.",
    ),
    misconceptions=(
        mistake("n-and-d-exchanged", "(n * n * d, 1, 1)", "(n * d * d, 1, 1)", "(n * d * d, n, n)", "(n * n * d, n, n)",
            hint="You exchanged n and d: attention compares n words with n words, a recurrent step multiplies by a "
                 "d × d matrix."),
        mistake("convolution-without-gaps", "    layers = 1\n    while k**layers < n:\n        layers += 1\n",
            "    layers = -(-n // k)\n",
            hint="You count n / k layers: those of a stack in which each layer joins direct neighbours. The table's "
                 "logarithm is of a stack with growing gaps (dilated convolutions)."),
        mistake("logarithm-rounded-up", "    layers = 1\n    while k**layers < n:\n        layers += 1\n",
            "    layers = math.ceil(math.log(n) / math.log(k))\n",
            hint="A logarithm of floats can be a little too large: log 125 / log 5 is 3.0000000000000004, and "
                 "rounded up 4. Count the layers with whole numbers."),
        mistake("logarithm-rounded-down", "    layers = 1\n    while k**layers < n:\n        layers += 1\n",
            "    layers = max(1, int(math.log(n, k)))\n",
            hint="You round the number of layers down: then the last layer does not yet reach the whole text."),
        mistake("one-layer-too-many", "while k**layers < n:", "while k**layers <= n:",
            hint="Where n is a power of k you count one layer more than is needed. How many words do L layers reach "
                 "at most, and are n more than that?"),
        mistake("width-of-the-convolution-forgotten", "(k * n * d * d, 1, layers)", "(n * d * d, 1, layers)",
            hint="A convolution multiplies each of its k neighbours by a d × d matrix of its own: k · n · d²."),
        mistake("recurrence-in-parallel", "(n * d * d, n, n)", "(n * d * d, 1, n)",
            hint="A recurrent layer has n steps: each needs the state of the one before."),
        mistake("one-layer-of-convolution", "(k * n * d * d, 1, layers)", "(k * n * d * d, 1, 1)",
            hint="One convolution joins k neighbours only. Count the layers until all n tokens are joined."),
    ),
)  # fmt: skip
