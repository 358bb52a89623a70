"""The mean of a sentence's word vectors."""

import numpy as np

from autograde.exercises.writing import Case, Exercise, cases, mistake, normal, values, with_zeros


def _sentences(rng: np.random.Generator) -> list[Case]:
    example = np.array([[1, 2], [3, 4], [5, 9]], "float32")
    return [
        Case((example,), note="the example"),
        *(Case((normal(rng, *shape),)) for shape in ((5, 3), (4, 4), (1, 3), (3, 1))),
        Case((with_zeros(normal(rng, 70, 2)),)),  # a word of zeros is a word
        Case((normal(rng, 4, 3)[[0, 1, 0, 2, 3]],)),  # the same word twice
    ]


def _batches(rng: np.random.Generator) -> list[Case]:
    """One and two axes in front, a batch of one sentence, sentences of one word."""
    shapes = ((2, 3, 5), (4, 4, 4), (2, 3, 4, 5), (1, 6, 2), (3, 1, 4), (1, 2, 1, 3, 2))
    return [Case((normal(rng, *shape),)) for shape in shapes]


def _more_sentences(rng: np.random.Generator) -> list[Case]:
    words, d = int(rng.integers(6, 20)), int(rng.integers(6, 20))
    return [Case((normal(rng, words, d),)), Case((normal(rng, 1, d),)), Case((normal(rng, words, 1),))]


def _more_batches(rng: np.random.Generator) -> list[Case]:
    return [Case((normal(rng, 2, 1, 3, int(rng.integers(2, 9)), 4),)), Case((normal(rng, 5, 5, 5, 5),))]


EXERCISE = Exercise(
    reference=lambda vectors: vectors.mean(axis=-2),
    parts=(
        values(1, _sentences, hidden=_more_sentences),
        cases("a batch", 1, _batches, "with a batch of sentences in front the result is wrong", _more_batches),
    ),
    facts=lambda case: {"words": case.arguments[0].shape[0], "d": case.arguments[0].shape[1]},
    hints=(
        "Look at the example: three words of two numbers go in, two numbers come out. Which axis disappears?",
        "The words are on the last axis but one. Counted from the end, this axis has the same index with and "
        "without a batch.",
        "`ops.mean` takes the axis to average over: `axis=…`. Counted from the end, the last axis is -1.",
    ),
    misconceptions=(
        mistake("median", "ops.mean(vectors, axis=-2)", "ops.median(vectors, axis=-2)",
            hint="You take the median of each number over the words. The mean of two very different words lies between "
                 "them: use `ops.mean`, along the same axis."),
        mistake("mean-of-each-word", "axis=-2", "axis=-1",
            hint="You took the mean of the numbers inside each word, one number per word. Average over the words "
                 "instead: the last axis stays."),
        mistake("sum", "ops.mean(", "ops.sum(",
            hint="This is the sum. A mean is divided by the number of words, so that long and short sentences are "
                 "comparable."),
        mistake("mean-of-everything", "ops.mean(vectors, axis=-2)", "ops.mean(vectors)",
            hint="The result is a single number: without an axis everything is averaged. Average only over the axis "
                 "of words."),
        mistake("axis-kept", "axis=-2", "axis=-2, keepdims=True",
            hint="The axis of words is still there, with size 1. The result must be one vector, ({d},), so leave "
                 "out `keepdims`."),
        mistake("axis-from-the-front", "axis=-2", "axis=0",
            hint="This is right for one sentence; in a batch axis 0 is the sentences, and you average those. Count "
                 "axes from the end."),
        mistake("axis-one", "axis=-2", "axis=1",
            hint="Axis 1 is the words only with exactly one axis in front. For one sentence it is the numbers of a "
                 "word. Count axes from the end."),
        mistake("divided-by-the-width", "ops.mean(vectors, axis=-2)", "ops.sum(vectors, axis=-2) / vectors.shape[-1]",
            hint="You add up the words, but divide by the size of a vector ({d}). Divide by the number of words "
                 "({words})."),
        mistake("divided-by-the-first-size",
            "ops.mean(vectors, axis=-2)", "ops.sum(vectors, axis=-2) / vectors.shape[0]",
            hint="You divide by the first size. For one sentence that is the number of words; in a batch it is the "
                 "number of sentences."),
    ),
)  # fmt: skip
