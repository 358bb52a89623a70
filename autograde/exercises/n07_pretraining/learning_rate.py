"""Linear warm-up, then linear decay to 0."""

import numpy as np

from autograde.exercises.writing import Case, Exercise, Forbidden, Random, cases, mistake, values


def learning_rate(step, peak, warmup_steps, total_steps):
    def at(s):
        if s < warmup_steps:
            return peak * (s + 1) / warmup_steps
        return peak * max(0.0, total_steps - s) / (total_steps - warmup_steps)

    return np.vectorize(at, otypes=["float64"])(step)


def schedules(rng: Random) -> list[Case]:
    """Many steps; the steps around the end of the warm-up; one number, and a matrix of steps; BERT's own schedule,
    whose first rate is a ten-thousandth of the peak."""
    steps = np.arange(0, 100, 9).astype("float32")
    second = np.sort(rng.choice(60, 8, replace=False)).astype("float32")
    warmup = int(rng.integers(12, 24))
    around = np.arange(warmup - 2, warmup + 3).astype("float32")
    long = np.array([0, 9_998, 9_999, 10_000, 500_000], "float32")
    return [
        Case((steps, 1e-1, 10, 100)), Case((second, 3e-1, warmup, 60)), Case((around, 0.2, warmup, 60)),
        Case((np.array(rng.integers(2, 40), "float32"), 0.5, 8, 50)), Case((steps[:3], 3.0, 1, 30)),
        Case((second.reshape(2, 4), 0.3, warmup, 60)), Case((long, 20.0, 10_000, 1_000_000)),
    ]  # fmt: skip


def other_schedules(rng: Random) -> list[Case]:
    """A warm-up of one step; a warm-up of nearly all steps; a tensor with three axes."""
    steps = np.arange(12).astype("float32")
    return [
        Case((steps[:9], 0.4, 1, 9)), Case((steps[:11], 0.4, 10, 11)), Case((steps.reshape(2, 3, 2), 0.4, 3, 30)),
    ]  # fmt: skip


def long_after_the_end(rng: Random) -> list[Case]:
    """Also far behind the end, in a tensor with three axes."""
    steps = np.arange(12).astype("float32").reshape(2, 3, 2)
    return [Case((steps, 0.4, 1, 4)), Case((np.array([999_999, 1_200_000, 1e9], "float32"), 20.0, 10_000, 1_000_000))]


def after_the_end(rng: Random) -> list[Case]:
    """From a few steps before the end; and the last step of a long run, with a rate that is small, but not 0."""
    start = int(rng.integers(45, 50))
    last = np.array([9_998, 9_999, 10_000, 10_001], "float32")
    return [Case((np.arange(start, start + 12).astype("float32"), 2e-1, 5, 50)), Case((last, 20.0, 5, 10_000))]


def no_warmup(rng: Random) -> list[Case]:
    """Also after the end, and for one number."""
    total = int(rng.integers(20, 40))
    return [
        Case((np.arange(0, 52, 3).astype("float32"), 0.1, 0, total)),
        Case((np.array(total - 4, "float32"), 5.0, 0, total)),
    ]


EXERCISE = Exercise(
    reference=learning_rate,
    in_graph=True,
    parts=(
        values(1, schedules, hidden=other_schedules),
        cases("after the end", 1, after_the_end, "the rate must fall to 0 at total_steps, not to a floor, and stay 0",
            long_after_the_end),
        cases("no warm-up", 1, no_warmup, "with warmup_steps = 0 the rates must fall from the peak to 0, and stay 0"),
    ),
    forbidden=Forbidden(
        "In this exercise you write the schedule yourself.",
        ("keras.optimizers.schedules", "tensorflow.compat.v1.train.polynomial_decay"),
    ),
    facts=lambda case: {"peak": f"{case.arguments[1]:g}", "warmup": case.arguments[2], "total": case.arguments[3]},
    hints=(
        "Two straight lines, one up, one down; use the lower one.",
        "Up: (step + 1) / warmup_steps. Down: the remaining steps (total_steps − step) divided by the length of the "
        "decay.",
        "`ops.minimum` of the two, not below 0, times the peak. In the divisor of the rising line, and only there, "
        "`max(warmup_steps, 1)` avoids a division by 0.",
    ),
    misconceptions=(
        mistake("first-step-lost", "(step + 1) / max", "step / max",
            hint="Your first step has rate 0, so it changes nothing. Before step s there were s steps; the next one "
                 "is number s + 1 of {warmup}."),
        mistake("down-from-the-start",
            "(total_steps - step) / (total_steps - warmup_steps)", "(total_steps - step) / total_steps",
            hint="Your decay begins at step 0, so at the end of the warm-up the rate jumps below the peak. (The "
                 "published script does that.) Let it begin where the warm-up ends: {total} − {warmup} steps long."),
        mistake("never-down", "ops.minimum(rising, falling)", "rising",
            hint="The rate rises and stays at {peak}. After the warm-up it must fall in a straight line, to 0 at "
                 "step {total}."),
        mistake("never-up", "ops.minimum(rising, falling)", "falling",
            hint="The first step has the full rate. Adam's averages are not reliable yet: let the rate rise for "
                 "{warmup} steps."),
        mistake("without-the-peak", "peak * ops.clip(", "ops.clip(",
            hint="Your rate rises to 1. Both lines are fractions of the peak: multiply by `peak`, here {peak}."),
        mistake("zero-too-early", "(total_steps - step) /", "(total_steps - step - 1) /",
            hint="Your rate is 0 one step too early. `step` counts the steps that are made, and the rate falls to 0 at "
                 "step {total}: only the rising line has a + 1."),
        mistake("decay-of-at-least-one",
            "(total_steps - warmup_steps)", "(total_steps - max(warmup_steps, 1))",
            hint="Right with a warm-up. With warmup_steps = 0 your decay begins at step 1: `max(warmup_steps, 1)` "
                 "belongs only in the divisor of the rising line; the decay is total_steps − warmup_steps long."),
        mistake("below-zero", "ops.clip(ops.minimum(rising, falling), 0, 1)", "ops.minimum(rising, falling)",
            hint="After the last step your rate is negative, and each step would increase the loss. The rate "
                 "must stay 0."),
    ),
)  # fmt: skip
