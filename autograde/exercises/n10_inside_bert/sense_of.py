"""The sense of each example of a word, as its nearest other example has it."""

import math

import numpy as np

from autograde.exercises.n10_inside_bert._shared import LIBRARY
from autograde.exercises.writing import Case, Exercise, Random, cases, mistake, plain_function, values


def sense_of(vectors, senses):
    """Pair by pair, with the angle between two examples as seen from the mean."""
    middle = np.mean(vectors, axis=0)
    found = []
    for one in range(len(senses)):
        others = [(_angle(vectors[one] - middle, vectors[other] - middle), other) for other in range(len(senses))]
        found.append(senses[min(pair for pair in others if pair[1] != one)[1]])
    return found


def _angle(u, v):
    return math.acos(float(np.clip(u @ v / math.sqrt((u @ u) * (v @ v)), -1, 1)))


def _nearest(scores) -> list[int]:
    scores = np.array(scores)
    np.fill_diagonal(scores, -np.inf)
    return scores.argmax(axis=1).tolist()


def _as_mistaken(vectors) -> list[list[int]]:
    """The nearest examples by the cosine; by the product, by distances, by the cosine without centring or before it."""
    centred = vectors - vectors.mean(axis=0)
    units, raw = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (centred, vectors))
    distances = np.linalg.norm(vectors[:, None] - vectors, axis=-1)
    again = raw - raw.mean(axis=0)
    again = again / np.linalg.norm(again, axis=1, keepdims=True)
    blocks = centred / np.abs(centred).sum(axis=1, keepdims=True)  # of length 1 in another sense
    alike = (units @ units.T, centred @ centred.T, -distances, blocks @ blocks.T, raw @ raw.T, again @ again.T)
    return [_nearest(x) for x in alike]


def _by_mean_cosine(vectors, senses) -> list[str]:
    """The sense whose examples are nearest together; vectors: with a mean of 0."""
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = units @ units.T
    np.fill_diagonal(cosines, np.nan)
    named = {name: np.array([sense == name for sense in senses]) for name in dict.fromkeys(senses)}
    return [max(named, key=lambda name: np.nanmean(row[named[name]])) for row in cosines]


def examples(rng: Random, count: int, width: int, common: float, names: int) -> Case:
    """Vectors of different lengths, with a common part of this size; senses with that many names.

    Each simpler way to find the nearest example (see `_as_mistaken`) finds other senses.
    """
    while True:
        vectors = rng.normal(size=(count, width)) * rng.uniform(0.4, 3.0, size=(count, 1))
        vectors = vectors - vectors.mean(axis=0)
        shift = common * rng.normal(size=width)
        right, product, distance, block, raw, again = _as_mistaken(vectors + shift)
        others = [product, distance, block, again, *([raw] if common else [])]
        senses = [f"sense {'abcdefghijkl'[number % names]}" for number in range(count)]
        said = [[senses[place] for place in places] for places in (right, *others)]
        if names < count:
            said.append(_by_mean_cosine(vectors, senses))
        if all(other != said[0] for other in said[1:]):
            return Case((vectors + shift, senses))


def around_zero(rng: Random) -> list[Case]:
    """The mean is 0. Each example with a sense of its own, and with senses that several have; two examples alone."""
    two = Case((np.array([[1.0, 0.5], [-1.0, -0.5]]), ["left", "right"]))
    return [examples(rng, 7, 4, 0, 7), examples(rng, 9, 3, 0, 3), two]


def around_a_mean(rng: Random) -> list[Case]:
    """Vectors that point the same way, as BERT's do."""
    return [examples(rng, 8, 5, 4.0, 8), examples(rng, 10, 4, 6.0, 4)]


EXERCISE = Exercise(
    probe=plain_function(),
    returns="list",
    reference=sense_of,
    parts=(
        values(2, around_zero, hidden=lambda rng: [examples(rng, 12, 6, 0, 12)]),
        cases("a common part", 1, around_a_mean, "where the vectors have a common part the result is wrong: subtract "
            "their mean first", lambda rng: [examples(rng, 11, 6, 8.0, 11)]),
    ),
    forbidden=LIBRARY,
    hints=(
        "Three steps: subtract the mean vector, bring each to length 1, multiply all with all.",
        "`units @ units.T` has the cosine of each two examples. The largest one in each row is that with itself.",
        "The diagonal has the cosine of each example with itself. Which number there does `argmax` never choose?",
    ),
    misconceptions=(
        mistake("itself", "    np.fill_diagonal(cosines, -np.inf)\n", "",
            hint="Each example finds itself: its cosine with itself is 1. Leave it out, or every sense is right."),
        mistake("not-centred", "vectors - vectors.mean(axis=0)", "vectors * 1.0",
            hint="You did not subtract the mean vector. BERT's vectors all point into nearly the same direction, and "
                 "that common part hides the differences."),
        mistake("centred-by-row", "vectors.mean(axis=0)", "vectors.mean(axis=1, keepdims=True)",
            hint="You subtract from each vector the mean of its own numbers. Subtract the mean *vector* of all "
                 "examples."),
        mistake("product", "units = centred / np.linalg.norm(centred, axis=1, keepdims=True)", "units = centred",
            hint="You compare by the product, so long vectors win. A cosine needs vectors of length 1."),
        mistake("distance", "cosines = units @ units.T",
            "cosines = -np.linalg.norm(vectors[:, None] - vectors[None], axis=-1)",
            hint="You take the smallest distance. Asked is the largest cosine: the direction, for vectors of "
                 "any length."),
        mistake("centred-after-scaling", "centred = vectors - vectors.mean(axis=0)",
            "units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)\n"
            "    centred = units - units.mean(axis=0)",
            hint="You bring the vectors to length 1 first and subtract the mean then. First the mean, then the "
                 "length."),
        mistake("farthest", "np.fill_diagonal(cosines, -np.inf)", "np.fill_diagonal(cosines, np.inf)",
            "cosines.argmax(axis=1)", "cosines.argmin(axis=1)",
            hint="You take the *least* similar example. A cosine is large for similar ones."),
        mistake("mean-of-a-sense", "[senses[place] for place in cosines.argmax(axis=1)]",
            "[max(dict.fromkeys(senses), key=lambda name: np.mean("
            "[c for c, s in zip(row, senses) if s == name and c > -2] or [-2])) for row in cosines]",
            hint="You compare with all examples of a sense together. The *nearest one* decides."),
    ),
)  # fmt: skip
