"""While training, zeroes a share of the numbers and makes up for it with the others."""

from autograde.exercises.draws import Random, normal
from autograde.exercises.n04_encoder_layer._shared import LIBRARY, SEED, away_from_zero
from autograde.exercises.spec import Case, Dropped, Exercise, Forbidden, Part, Trial, cases, mistake

READY_DROPOUT = ("keras.layers.Dropout", "keras.random.dropout", "tensorflow.nn.dropout")


def dropout(x, rate, training):
    """Without its chance."""
    return x


def dropped_in_training(rng: Random) -> list[Trial]:
    """Few rows and many columns: whole rows at a time would never give the right share."""
    often, seldom = ((away_from_zero(rng, 4, 500), rate, True) for rate in (0.4, 0.1))
    return [
        Trial(
            (Case(often, seed=SEED), Case(often, seed=SEED + 1)),
            (Dropped(0.4), Dropped(0.4, answer=1, unlike=0)),
        ),
        Trial((Case(seldom, seed=SEED),), (Dropped(0.1),)),
    ]


def nobody_trains(rng: Random) -> list[Case]:
    return [Case((normal(rng, 4, 6), 0.4, False), seed=SEED), Case((normal(rng, 2, 3, 5), 0.1, False), seed=SEED)]


def rate_of_zero(rng: Random) -> list[Case]:
    return [Case((normal(rng, 3, 5), 0.0, True), seed=SEED)]


EXERCISE = Exercise(
    reference=dropout,
    parts=(
        Part("training", 1, dropped_in_training, "in training the zeros or the other numbers are not as expected"),
        cases("nobody trains", 1, nobody_trains, "outside training x must come back as it is"),
        cases("a rate of 0", 1, rate_of_zero, "with a rate of 0 nothing may be dropped, in training either"),
    ),
    forbidden=Forbidden(LIBRARY.because, (*READY_DROPOUT, *LIBRARY.names)),
    facts=lambda case: {"rate": f"{case.arguments[1]:.0%}", "kept": f"{1 - case.arguments[1]:.0%}"},
    hints=(
        "Outside training: x itself. In training: who is kept? A random number for each of x decides.",
        "A uniform number between 0 and 1 is below `rate` with probability `rate`: those are dropped.",
        "`ops.where(kept, a, b)` takes a where kept is True, else b. The kept ones are divided by 1 − rate.",
    ),
    misconceptions=(
        mistake("not-made-up-for", "x / (1.0 - rate)", "x",
            hint="The survivors keep their size, so sums become smaller in training than later. Divide them by 1 − "
                 "rate."),
        mistake("made-up-for-later",
            "return x\n", "return x * (1.0 - rate)\n",
            "x / (1.0 - rate)", "x",
            hint="You scale by 1 − rate outside training instead of dividing in training. The first paper did so; "
                 "today nothing at all happens outside training."),
        mistake("always", "if not training:", "if False:",
            hint="Numbers are dropped although nobody is training. Outside training x comes back as it is."),
        mistake("only-outside-training", "if not training:", "if training:",
            hint="The other way round: you drop when nobody is training, and leave x alone in training."),
        mistake("rate-is-kept", ">= rate", "< rate",
            hint="You keep {rate} and drop {kept}. `rate` is the share that is dropped."),
        mistake("divided-by-rate", "x / (1.0 - rate)", "x / rate",
            hint="You divide the survivors by rate. They are the 1 − rate that are left: divide by 1 − rate."),
        mistake("one-seed", "keras.random.uniform(ops.shape(x))", "keras.random.uniform(ops.shape(x), seed=0)",
            hint="Every call drops the same numbers: a seed is fixed. Leave it out, so that chance acts anew at each "
                 "call."),
        mistake("whole-rows", "keras.random.uniform(ops.shape(x))", "keras.random.uniform((*x.shape[:-1], 1))",
            hint="Whole rows are dropped together: there is one random number per row. Every number has its own."),
    ),
)  # fmt: skip
