"""Notebook 00, welcome: one warm-up exercise. What a student sees of it stands in solutions/00_welcome.py."""

import numpy as np

from autograde.exercises.spec import Case, Exercise, Misconception, cases, function, values


def _normal(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.normal(size=shape).astype("float32")


def _sentences(rng: np.random.Generator) -> list[Case]:
    example = np.array([[1, 2], [3, 4], [5, 9]], "float32")
    return [Case((example,), note="the example"), Case((_normal(rng, 5, 3),)), Case((_normal(rng, 4, 4),))]


def _batches(rng: np.random.Generator) -> list[Case]:
    return [Case((_normal(rng, 2, 3, 5),)), Case((_normal(rng, 4, 4, 4),))]


SENTENCE_VECTOR = Exercise(
    id="sentence-vector",
    notebook="00_welcome",
    number="0.1",
    title="A sentence as one vector",
    minutes=6,
    lines="",
    names=("sentence_vector",),
    arguments=("vectors",),
    probe=function("sentence_vector"),
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
        Misconception(
            "mean-of-each-word",
            "You took the mean of the numbers inside each word, one number per word. Average over the words instead, "
            "number by number: the last axis stays.",
            (("axis=-2", "axis=-1"),),
        ),
        Misconception(
            "sum",
            "This is the sum. A mean is divided by the number of words, so that long and short sentences compare.",
            (("ops.mean(", "ops.sum("),),
        ),
        Misconception(
            "mean-of-everything",
            "One single number came out: without an axis everything is averaged. Only the axis of words is to go.",
            (("ops.mean(vectors, axis=-2)", "ops.mean(vectors)"),),
        ),
        Misconception(
            "axis-kept",
            "The axis of words is still there, with size 1. The result is one vector, ({d},), so leave out `keepdims`.",
            (("axis=-2", "axis=-2, keepdims=True"),),
        ),
        Misconception(
            "axis-from-the-front",
            "Right for one sentence; in a batch axis 0 counts the sentences, and you average those. Count axes from "
            "the end.",
            (("axis=-2", "axis=0"),),
        ),
    ),
)

EXERCISES = (SENTENCE_VECTOR,)
