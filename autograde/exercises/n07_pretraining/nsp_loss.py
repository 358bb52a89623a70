"""The mean loss of a batch of pairs."""

import numpy as np

from autograde.exercises.draws import Random, normal, whole_numbers
from autograde.exercises.n07_pretraining._shared import READY_MADE_LOSSES, log_softmax
from autograde.exercises.spec import Case, Exercise, Part, Slopes, Trial, cases, mistake


def nsp_loss(logits, labels):
    return np.array(np.mean([-log_softmax(row)[label] for row, label in zip(logits, labels)]))


def pairs(rng: Random) -> list[Case]:
    """Both labels occur, one more often than the other."""
    few = np.array([0, 1, 0, 0, 1], "int32")
    return [
        Case((normal(rng, 3, 2, size=2), rng.permutation(few[:3]))),
        Case((normal(rng, 5, 2, size=2), rng.permutation(few))),
    ]


def other_pairs(rng: Random) -> list[Case]:
    """One pair; more pairs."""
    return [Case((normal(rng, 1, 2), np.ones(1, "int32"))), Case((normal(rng, 7, 2), whole_numbers(rng, 2, 7)))]


def confident(rng: Random) -> list[Case]:
    """All IsNext: a model that is confident of column 0 has hardly any loss; all NotNext: it has a large, finite one.

    The levels of two pairs are far apart.
    """
    sure = normal(rng, 4, 2) + np.array([6, -6], "float32")
    surer, levels = normal(rng, 3, 2) + np.array([1e4, -1e4], "float32"), np.array([[100], [-100]], "float32")
    return [
        Case((sure, np.zeros(4, "int32"))), Case((sure, np.ones(4, "int32"))), Case((surer, np.zeros(3, "int32"))),
        Case((surer, np.array([0, 1, 0], "int32"))), Case((normal(rng, 2, 2) + levels, np.array([1, 0], "int32"))),
    ]  # fmt: skip


def pairs_and_slopes(rng: Random) -> list[Trial]:
    case = pairs(rng)[1]
    slopes = Trial((case,), (Slopes(np.array(1.0), {0: normal(rng, 5, 2)}),))
    return [*(Trial((case,)) for case in pairs(rng)), slopes]


EXERCISE = Exercise(
    reference=nsp_loss,
    in_graph=True,
    parts=(
        Part("values", 1, pairs_and_slopes, hidden=lambda rng: [Trial((case,)) for case in other_pairs(rng)]),
        cases("confident models", 1, confident,
            "a model that is confident and right must have hardly any loss, and one that is confident and wrong a "
            "large, finite one, without an upper bound"),
    ),
    forbidden=READY_MADE_LOSSES,
    hints=(
        "It is the same loss again, with two classes instead of a vocabulary, and every row counts.",
        "Label 0 is IsNext and belongs to column 0: the label is the index of the column.",
        "Minus the log softmax at the label, one number per row, then the mean.",
    ),
    misconceptions=(
        mistake("one-is-next", "ops.expand_dims(labels, 1)", "ops.expand_dims(1 - labels, 1)",
            hint="You read label 1 as IsNext. In BERT 0 is IsNext and 1 is NotNext: the label is the index of the "
                 "column."),
        mistake("always-is-next", "ops.take_along_axis(log_p, ops.expand_dims(labels, 1), axis=1)", "log_p[:, 0]",
            hint="You use column 0 for every pair. For a pair with label 1 use the probability of column 1."),
        mistake("summed-over-the-batch", "-ops.mean", "-ops.sum",
            hint="You sum over the pairs. The loss is their mean, so that it does not grow with the batch."),
        mistake("two-questions", "ops.log_softmax(logits, axis=-1)", "ops.log(ops.sigmoid(logits))",
            hint="You apply a sigmoid to each column. The two are one choice: apply softmax to both."),
        mistake("log-after-softmax", "ops.log_softmax(logits, axis=-1)", "ops.log(ops.softmax(logits, axis=-1))",
            hint="Right for small logits. For large ones exp overflows to ∞, or a probability is rounded to 0, "
                 "whose logarithm is −∞. Use `ops.log_softmax`, as in 7.2."),
        mistake("chance-instead-of-logarithm",
            "return -ops.mean(ops.take_along_axis(log_p, ops.expand_dims(labels, 1), axis=1))",
            "return ops.mean(1 - ops.exp(ops.take_along_axis(log_p, ops.expand_dims(labels, 1), axis=1)))",
            hint="You take 1 − probability. Its slope is nearly 0 where the model is confident and wrong; −log is "
                 "steep there."),
        mistake("no-minus", "return -ops.mean", "return ops.mean",
            hint="Your loss is negative: logarithms of probabilities are. The loss of a pair is minus the logarithm."),
        mistake("softmax-over-the-batch", "ops.log_softmax(logits, axis=-1)", "ops.log_softmax(logits, axis=0)",
            hint="Your softmax goes over the pairs of the batch. It must go over the two columns, the last axis: each "
                 "pair has two probabilities, which sum to 1."),
        mistake("mean-over-both-columns", "ops.take_along_axis(log_p, ops.expand_dims(labels, 1), axis=1)",
            "ops.one_hot(labels, 2) * log_p",
            hint="Your loss is half as large as it must be: the mean also counts the column that is not the label, as "
                 "a zero. Each pair has one loss; take the mean over the pairs."),
    ),
)  # fmt: skip
