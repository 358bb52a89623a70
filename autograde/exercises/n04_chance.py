"""Notebook 04, exercises 4.8 and 4.9: dropout, and the residual connection around a sub-layer."""

from autograde.exercises import n04_draws as draws
from autograde.exercises.n04_common import BUILD_IT, LIBRARY, MODULE, NOTEBOOK, READY_DROPOUT
from autograde.exercises.spec import Exercise, Misconception, Part, cases, function

DROPOUT = Exercise(
    id="dropout",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="4.8",
    title="Dropout",
    minutes=7,
    lines="",
    names=("dropout",),
    arguments=("x", "rate", "training"),
    probe=function("dropout"),
    reference=draws.dropout,
    parts=(
        Part(
            "training", 1, draws.dropped_in_training, "in training the zeros or the other numbers are not as expected"
        ),
        cases("nobody trains", 1, draws.nobody_trains, "outside training x must come back as it is"),
        cases("a rate of 0", 1, draws.rate_of_zero, "with a rate of 0 nothing may be dropped, in training either"),
    ),
    forbidden=(*READY_DROPOUT, *LIBRARY),
    forbidden_because=BUILD_IT,
    facts=lambda case: {"rate": f"{case.arguments[1]:.0%}", "kept": f"{1 - case.arguments[1]:.0%}"},
    hints=(
        "Outside training: x itself. In training: who is kept? A random number for each of x decides.",
        "A uniform number between 0 and 1 is below `rate` with probability `rate`: those are dropped.",
        "`ops.where(kept, a, b)` takes a where kept is True, else b. The kept ones are divided by 1 − rate.",
    ),
    misconceptions=(
        Misconception(
            "not-made-up-for",
            "The survivors keep their size, so sums become smaller in training than later. Divide them by 1 − rate.",
            (("x / (1.0 - rate)", "x"),),
        ),
        Misconception(
            "made-up-for-later",
            "You scale by 1 − rate outside training instead of dividing in training. The first paper did so; today "
            "nothing at all happens outside training.",
            (("return x\n", "return x * (1.0 - rate)\n"), ("x / (1.0 - rate)", "x")),
        ),
        Misconception(
            "always",
            "Numbers are dropped although nobody is training. Outside training x comes back as it is.",
            (("if not training:", "if False:"),),
        ),
        Misconception(
            "only-outside-training",
            "The other way round: you drop when nobody is training, and leave x alone in training.",
            (("if not training:", "if training:"),),
        ),
        Misconception(
            "rate-is-kept",
            "You keep {rate} and drop {kept}. `rate` is the share that is dropped.",
            ((">= rate", "< rate"),),
        ),
        Misconception(
            "divided-by-rate",
            "You divide the survivors by rate. They are the 1 − rate that are left: divide by 1 − rate.",
            (("x / (1.0 - rate)", "x / rate"),),
        ),
        Misconception(
            "one-seed",
            "Every call drops the same numbers: a seed is fixed. Leave it out, so that chance acts anew at each call.",
            (("keras.random.uniform(ops.shape(x))", "keras.random.uniform(ops.shape(x), seed=0)"),),
        ),
        Misconception(
            "whole-rows",
            "Whole rows are dropped together: there is one random number per row. Every number has its own.",
            (("keras.random.uniform(ops.shape(x))", "keras.random.uniform((*x.shape[:-1], 1))"),),
        ),
    ),
)

RESIDUAL = Exercise(
    id="residual",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="4.9",
    title="The residual connection",
    minutes=3,
    lines="ETransformer, lines 6 and 8",
    names=("residual",),
    arguments=("x", "found", "rate", "training"),
    probe=function("residual"),
    reference=draws.residual,
    parts=(
        cases("nobody trains", 1, draws.added_outside_training, ""),
        Part("training", 1, draws.road_and_change, "in training dropout must act on what was found, and never on x"),
    ),
    forbidden=LIBRARY,
    forbidden_because=BUILD_IT,
    hints=(
        "One line: a sum of two. Which of the two passes through dropout?",
        "x is the road. Whatever chance does, x arrives whole.",
        "Call your `dropout` on `found`, and hand it rate and training.",
    ),
    misconceptions=(
        Misconception(
            "sum-dropped",
            "Dropout acts on the whole sum, so parts of x are lost as well. It may act on what was found, not on the "
            "road.",
            (("x + dropout(found, rate, training)", "dropout(x + found, rate, training)"),),
        ),
        Misconception(
            "road-dropped",
            "Dropout acts on x. It is to act on what the sub-layer found; x arrives whole.",
            (("x + dropout(found, rate, training)", "dropout(x, rate, training) + found"),),
        ),
        Misconception(
            "not-added",
            "This is only what was found. The residual connection adds it to x.",
            (("x + dropout(found, rate, training)", "dropout(found, rate, training)"),),
        ),
        Misconception(
            "difference",
            "You take x away from what was found. The sub-layer *learns* the difference; the connection adds it to x.",
            (("x + dropout(found, rate, training)", "dropout(found - x, rate, training)"),),
        ),
        Misconception(
            "no-dropout",
            "Nothing is dropped in training: what was found passes through `dropout` first.",
            (("dropout(found, rate, training)", "found"),),
        ),
        Misconception(
            "always-training",
            "Numbers are dropped although nobody is training: hand `training` on.",
            (("dropout(found, rate, training)", "dropout(found, rate, True)"),),
        ),
    ),
)
