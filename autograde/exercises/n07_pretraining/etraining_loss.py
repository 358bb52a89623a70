"""Line 9 of ETraining, for one sentence."""

import numpy as np

from autograde.exercises.n07_pretraining._shared import log_softmax
from autograde.exercises.writing import Case, Exercise, Random, cases, mistake, normal, values, whole_numbers

SMALLEST = {"a-ten-millionth": 1e-7, "a-hundred-millionth": 1e-8, "a-billionth": 1e-9, "a-ten-billionth": 1e-10,
            "a-trillionth": 1e-12}  # what students add to a probability  # fmt: skip


def etraining_loss(p, x, positions):
    return np.array(sum((-np.log(p[t, x[t]]) for t in positions), 0.0))


def chances(rng: Random, length: int, pieces: int) -> np.ndarray:
    """Rows of probabilities, like P of line 8: (length, vocabulary)."""
    return np.exp(log_softmax(normal(rng, length, pieces).astype("float64"))).astype("float32")


def lecture_example(rng: Random) -> Case:
    """The cat sat: 21 and 5438 are masked, P[1, 21] = 0.0041. The ids are those of a vocabulary of 30 tokens."""
    p = chances(rng, 3, 30)
    p[0] *= (1 - 0.0041) / (p[0].sum() - p[0, 21])
    p[0, 21] = 0.0041
    return Case((p, np.array([21, 17, 5], "int32"), np.array([0, 2], "int32")), note="the lecture's example")


def masked_sentences(rng: Random) -> list[Case]:
    """The lecture's example; three of eight positions, among them the first and the last; and only one."""
    positions = np.array([0, rng.integers(1, 7), 7], "int32")
    one = np.array([rng.integers(1, 4)], "int32")
    return [
        lecture_example(rng), Case((chances(rng, 8, 6), whole_numbers(rng, 6, 8), positions)),
        Case((chances(rng, 5, 5), whole_numbers(rng, 5, 5), one)),
    ]  # fmt: skip


def repeated_tokens(rng: Random) -> list[Case]:
    """The same token at all positions; every position masked, and not in order."""
    same = np.full(6, rng.integers(9), "int32")
    every = rng.permutation(4).astype("int32")
    return [
        Case((chances(rng, 6, 9), same, np.array([1, 2, 4], "int32"))),
        Case((chances(rng, 4, 3), whole_numbers(rng, 3, 4), every)),
    ]


def unlikely_tokens(rng: Random) -> list[Case]:
    """Probabilities near the smallest of float32, of which already the product of two is 0; and many small ones."""
    p, x = chances(rng, 5, 6), whole_numbers(rng, 6, 5)
    p[[1, 3], x[[1, 3]]] = 1.2e-38
    many, ids = chances(rng, 30, 5), whole_numbers(rng, 5, 30)
    many[np.arange(30), ids] = 1e-3
    return [Case((p, x, np.array([3, 0, 1], "int32"))), Case((many, ids, np.arange(30).astype("int32")))]


def large_ids(rng: Random) -> list[Case]:
    """A vocabulary of thousands: an id does not fit into 8 bits, nor exactly into float16."""
    x = np.array([2049 + 2 * rng.integers(1000), rng.integers(256, 2000)], "int32")
    return [Case((chances(rng, 2, 4200), x, np.array([0, 1], "int32")))]


def longer_sentence(rng: Random) -> list[Case]:
    return [Case((chances(rng, 20, 12), whole_numbers(rng, 12, 20), rng.permutation(20)[:9].astype("int32")))]


def nothing_masked(rng: Random) -> list[Case]:
    return [Case((chances(rng, 4, 6), whole_numbers(rng, 6, 4), np.zeros(0, "int32")))]


EXERCISE = Exercise(
    reference=etraining_loss,
    parts=(
        values(2, lambda rng: [
            *masked_sentences(rng), *repeated_tokens(rng), *unlikely_tokens(rng), *large_ids(rng),
        ], hidden=longer_sentence),
        cases("nothing masked", 1, nothing_masked, "a sum over no positions is 0"),
    ),
    hints=(
        "For each masked position you need one number of P: the probability of the original token.",
        "Three steps: the rows of P at `positions`, the original ids at `positions`, one probability from each row.",
        "`ops.take` selects rows and ids; `ops.take_along_axis` selects one number from each row, if the ids are "
        "(m, 1).",
    ),
    misconceptions=(
        mistake("first-ids", "ops.take(x, positions)", "x[: ops.shape(positions)[0]]",
            hint="You take the first original ids. Take those *at the masked positions*, as you do with the rows of "
                 "p."),
        mistake("mean-instead-of-sum", "-ops.sum(ops.log(chances))", "-ops.mean(ops.log(chances))",
            hint="You take the mean. Line 9 is a sum over T̃: a sentence with more masked tokens has a larger loss."),
        mistake("every-position",
            "ops.take(p, positions, axis=0)", "p",
            "ops.take(x, positions)", "x",
            hint="You sum over the whole sentence. A token that was not masked is in the input: there is nothing to "
                 "learn from copying it."),
        mistake("the-favourite", "ops.take_along_axis(rows, ops.expand_dims(gold, 1), axis=1)", "ops.max(rows, axis=1)",
            hint="You take the largest probability of each row: the model's best guess. The loss needs the "
                 "probability of the *original* token, even if it is small."),
        mistake("bits", "ops.log(chances)", "ops.log2(chances)",
            hint="Your logarithm is to base 2. The lecture's is the natural one: −log 0.0041 = 5.497, not 7.930."),
        *(mistake(f"not-below-{words}", "ops.log(chances)", f"ops.log(chances + {least})",
            hint="Your loss cannot grow beyond a bound: you add a small number to the probability, or replace very "
                 "small ones (`maximum`, `clip`). Line 9 takes the probability as it is, however small.")
          for words, least in SMALLEST.items()),
        mistake("counted-from-one", "    rows = ", "    positions = positions - 1\n    rows = ",
            hint="You subtract 1 from the positions. Only the lecture counts from 1: `positions` are counted from 0, "
                 "so use them as they are."),
        mistake("log-of-the-sum", "ops.sum(ops.log(chances))", "ops.log(ops.sum(chances))",
            hint="You add the probabilities and take one logarithm. Take the logarithm for each position, then add."),
        mistake("no-minus", "return -ops.sum", "return ops.sum",
            hint="Your loss is negative: probabilities are below 1, so their logarithms are negative. Line 9 begins "
                 "with a minus."),
    ),
)  # fmt: skip
