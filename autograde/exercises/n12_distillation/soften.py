"""The probabilities of logits at a temperature."""

import numpy as np

from autograde.exercises.n07_pretraining._shared import log_softmax
from autograde.exercises.n12_distillation._shared import temperature
from autograde.exercises.writing import Case, Exercise, draws, mistake, sized, values

INPUTS = draws(
    __name__,
    Case(([6, 3, 2.5, -1, -2], 2.0), note="Homework, Book, Assignment, Cake, Car"),
    Case(([[600, 590, 0], [-300, -310, -900]], 2.0), note="large logits, in rows that lie far apart"),
    Case(([150, 30, 0], 20.0), note="at T = 1 two probabilities are 0 in float32"),
    sized(scale={"logits": 60}),  # a teacher that is sure
    temperature=temperature,
)


def soften(logits, temperature):
    return np.exp(log_softmax(logits / temperature))


EXERCISE = Exercise(
    reference=soften,
    parts=(values(2, INPUTS),),
    facts=lambda case: {"t": f"{case.arguments[1]:g}"},
    hints=(
        "The temperature changes the logits, before the softmax.",
        "`ops.softmax(…, axis=-1)` of the logits divided by the temperature.",
    ),
    misconceptions=(
        mistake("no-temperature", "logits / temperature", "logits",
            hint="These are the probabilities at T = 1. Divide the logits by the temperature, {t}, first."),
        mistake("multiplied", "logits / temperature", "logits * temperature",
            hint="You multiply by the temperature: the probabilities get sharper. Divide: they get softer."),
        mistake("probabilities-divided", "ops.softmax(logits / temperature, axis=-1)",
            "ops.softmax(logits, axis=-1) / temperature",
            hint="You divide the probabilities, and they sum to 1 / T. Divide the logits, before the softmax."),
        mistake("softmax-twice", "ops.softmax(logits / temperature, axis=-1)",
            "ops.softmax(ops.softmax(logits, axis=-1) / temperature, axis=-1)",
            hint="You divide probabilities and take a softmax again: nearly equal numbers remain. Divide the logits."),
        mistake("over-the-first-axis", "axis=-1", "axis=0",
            hint="Your softmax goes over the first axis. The classes are the last one, with any axes in front."),
    ),
)  # fmt: skip
