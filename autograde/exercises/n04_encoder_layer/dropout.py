"""In training, sets random elements to 0 and scales the others up."""

from autograde.exercises.draws import Random, normal
from autograde.exercises.n04_encoder_layer._shared import LIBRARY, SEED, away_from_zero
from autograde.exercises.spec import (
    AnyCount,
    Case,
    Dropped,
    Exercise,
    Forbidden,
    Part,
    Reference,
    Slopes,
    Trial,
    cases,
    mistake,
)

READY_DROPOUT = ("keras.layers.Dropout", "keras.random.dropout", "tensorflow.nn.dropout")


def dropout(x, rate, training):
    """Without dropout."""
    return x


SHAPES = (((4000,), 0.345), ((6, 8, 80), 0.45), ((40, 3, 4, 10), 0.5), ((60, 1, 60), 0.9))  # of any number of axes


def dropped_in_training(rng: Random) -> list[Trial]:
    """Few rows and many columns, so that whole rows never give the right fraction; then other shapes and rates."""
    often = away_from_zero(rng, 4, 500)
    calls = [(often, 0.4, SEED), (often, 0.4, SEED + 1), (away_from_zero(rng, 4, 500), 0.1, SEED)]
    calls += [(away_from_zero(rng, *shape), rate, SEED) for shape, rate in SHAPES]
    claims = [Dropped(rate, answer=index) for index, (_, rate, _) in enumerate(calls)]
    claims[1] = Dropped(0.4, answer=1, unlike=0)
    cases = tuple(Case((x, rate, True), seed=seed) for x, rate, seed in calls)
    return [Trial(cases, (*claims, AnyCount(tuple(rate for _, rate, _ in calls))))]


def many_numbers(rng: Random) -> list[Trial]:
    rate = float(rng.uniform(0.2, 0.8))
    shapes = ((2000,), (20, 100), (3, 30, 30), (5, 4, 9, 20))
    return [Trial((Case((away_from_zero(rng, *shape), rate, True), seed=SEED),), (Dropped(rate),)) for shape in shapes]


def not_training(rng: Random) -> list[Case]:
    return [Case((normal(rng, 4, 6), 0.4, False), seed=SEED), Case((normal(rng, 2, 3, 5), 0.1, False), seed=SEED),
            Case((normal(rng, 1, 7), 0.9, False), seed=SEED), Case((normal(rng), 0.5, False), seed=SEED)]  # fmt: skip


def rate_of_zero(rng: Random) -> list[Trial]:
    """The result and its gradient are those of x."""
    case = Case((normal(rng, 3, 5), 0.0, True), seed=SEED)
    return [Trial((case,), (Reference(), Slopes(normal(rng, 3, 5), {0: normal(rng, 3, 5)})))]


EXERCISE = Exercise(
    reference=dropout,
    parts=(
        Part("training", 1, dropped_in_training, "in training the zeros or the other numbers are wrong", many_numbers),
        cases("outside training", 1, not_training, "outside training the result must be x"),
        Part("a rate of 0", 1, rate_of_zero, "with a rate of 0 nothing may be dropped, also in training"),
    ),
    forbidden=Forbidden(LIBRARY.because, (*READY_DROPOUT, *LIBRARY.names)),
    facts=lambda case: {"rate": f"{case.arguments[1]:.0%}", "kept": f"{1 - case.arguments[1]:.0%}"},
    hints=(
        "Outside training: x itself. In training: draw a random number for each element of x to decide whether to "
        "keep it.",
        "A uniform number between 0 and 1 is below `rate` with probability `rate`: drop those.",
        "`ops.where(kept, a, b)` takes a where kept is True, otherwise b. Divide the kept ones by 1 − rate.",
    ),
    misconceptions=(
        mistake("not-made-up-for", "x / (1.0 - rate)", "x",
            hint="The kept numbers are not scaled, so sums are smaller in training than later. Divide them by 1 − "
                 "rate."),
        mistake("made-up-for-later",
            "return x\n", "return x * (1.0 - rate)\n",
            "x / (1.0 - rate)", "x",
            hint="You scale by 1 − rate outside training, as the first paper did. Today dropout divides by 1 − rate in "
                 "training, and does nothing outside."),
        mistake("always", "if not training:", "if False:",
            hint="Numbers are dropped outside training. There x must be returned unchanged."),
        mistake("only-outside-training", "if not training:", "if training:",
            hint="You swapped the two cases: you drop outside training, and do nothing in training."),
        mistake("rate-is-kept", ">= rate", "< rate",
            hint="You keep {rate} and drop {kept}. `rate` is the fraction to drop."),
        mistake("divided-by-rate", "x / (1.0 - rate)", "x / rate",
            hint="You divide the kept numbers by rate. A fraction of 1 − rate is kept: divide by 1 − rate."),
        mistake("one-seed", "keras.random.uniform(ops.shape(x))", "keras.random.uniform(ops.shape(x), seed=0)",
            hint="Every call drops the same numbers: a seed is fixed. Remove it, so that each call draws new random "
                 "numbers."),
        mistake("whole-rows", "keras.random.uniform(ops.shape(x))", "keras.random.uniform((*x.shape[:-1], 1))",
            hint="Whole rows are dropped together: you draw one random number per row. Draw one per element."),
    ),
)  # fmt: skip
