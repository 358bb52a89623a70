"""The mean of a sentence's word vectors."""

import numpy as np

from autograde.exercises.draws import normal
from autograde.exercises.spec import Case, Exercise, cases, mistake, values


def _sentences(rng: np.random.Generator) -> list[Case]:
    example = np.array([[1, 2], [3, 4], [5, 9]], "float32")
    return [Case((example,), note="the example"), Case((normal(rng, 5, 3),)), Case((normal(rng, 4, 4),))]


def _batches(rng: np.random.Generator) -> list[Case]:
    return [Case((normal(rng, 2, 3, 5),)), Case((normal(rng, 4, 4, 4),))]


EXERCISE = Exercise(
    reference=lambda vectors: vectors.mean(axis=-2),
    parts=(
        values(1, _sentences),
        cases("a batch", 1, _batches, "with a batch of sentences in front the result is another"),
    ),
    facts=lambda case: {"words": case.arguments[0].shape[0], "d": case.arguments[0].shape[1]},
    hints=(
        "Look at the example: three words of two numbers go in, two numbers come out. Which axis is gone?",
        "The axis of words is the last but one. Counted from the end it has the same number whether or not there is a "
        "batch in front.",
        "`ops.mean` takes the axis to average over: `axis=…`. From the end, the last axis is -1.",
    ),
    misconceptions=(
        mistake("mean-of-each-word", "axis=-2", "axis=-1",
            hint="You took the mean of the numbers inside each word, one number per word. Average over the words "
                 "instead, number by number: the last axis stays."),
        mistake("sum", "ops.mean(", "ops.sum(",
            hint="This is the sum. A mean is divided by the number of words, so that long and short sentences "
                 "compare."),
        mistake("mean-of-everything", "ops.mean(vectors, axis=-2)", "ops.mean(vectors)",
            hint="One single number came out: without an axis everything is averaged. Only the axis of words is to "
                 "go."),
        mistake("axis-kept", "axis=-2", "axis=-2, keepdims=True",
            hint="The axis of words is still there, with size 1. The result is one vector, ({d},), so leave out "
                 "`keepdims`."),
        mistake("axis-from-the-front", "axis=-2", "axis=0",
            hint="Right for one sentence; in a batch axis 0 counts the sentences, and you average those. Count axes "
                 "from the end."),
    ),
)  # fmt: skip
