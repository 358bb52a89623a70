"""The fraction of predictions in which the largest logit belongs to the original token, without padding."""

import numpy as np

from autograde.exercises.n07_pretraining._shared import predictions_of
from autograde.exercises.writing import Case, Exercise, Forbidden, Part, Random, Trial, cases, mistake, normal


def masked_accuracy(logits, labels, weights):
    right = [weights[index] for index in np.ndindex(labels.shape) if logits[index].argmax() == labels[index]]
    return np.array(sum(right) / weights.sum())


def guesses(rng: Random, rows: int, predictions: int, pieces: int, clear: float = 1.0) -> Case:
    """Half of the predictions are right, and one more in the padding. clear: the size of the logits.

    With 0.1 the best token has less than half of the probability.
    """
    logits, labels, weights = predictions_of(rng, rows, predictions, pieces, size=1)
    right = rng.random(labels.shape) < 0.5
    right[0, 0], right[1, 0] = True, False
    right |= weights == 0
    logits[right, labels[right]] += 8
    wrong = ~right
    logits[wrong, (labels[wrong] + 1) % pieces] += 8
    return Case(((logits * clear).astype("float32"), labels, weights))


def batches_of_guesses(rng: Random) -> list[Case]:
    return [guesses(rng, 3, 4, 9), guesses(rng, 5, 3, 8, clear=0.1), guesses(rng, 2, 1, 3)]


def other_guesses(rng: Random) -> list[Case]:
    """All right; a row whose predictions are all padding; the best token is the first or the last; a vocabulary of
    thousands, in which one guess is next to the label and one 256 after it; one row, with logits that are all large."""
    logits, labels, weights = guesses(rng, 2, 3, 4).arguments
    everything = logits.copy()
    np.put_along_axis(everything, labels[..., None], 30, axis=-1)
    labels_at_the_ends = np.array([[0, 3, 0], [3, 0, 3]], "int32")
    some = np.array([[0, 0, 0], [1, 0, 1]], "float32")
    ends = normal(rng, 2, 3, 4)
    np.put_along_axis(ends, np.array([[0, 3, 0], [3, 0, 0]])[..., None], 9, axis=-1)
    wide, near = normal(rng, 1, 3, 4200), np.array([[4001, 4096, 700]], "int32")
    wide[0, [0, 1, 2], [4000, 4096, 956]] = 50
    large = predictions_of(rng, 1, 3, 5)
    large[0][..., 2] += 40
    large[0][...] += 60
    return [
        Case((everything, labels, weights)), Case((logits, labels_at_the_ends, some)),
        Case((ends, labels_at_the_ends, some)), Case((wide, near, np.ones((1, 3), "float32"))),
        Case((large[0], np.array([[2, 1, 2]], "int32"), np.array([[1, 1, 0]], "float32"))),
    ]  # fmt: skip


def more_guesses(rng: Random) -> list[Case]:
    return [guesses(rng, 7, 6, 12), guesses(rng, 2, 1, 3)]


def all_guesses(rng: Random) -> list[Trial]:
    return [Trial((case,)) for case in batches_of_guesses(rng) + other_guesses(rng)]


def all_wrong_but_the_filling(rng: Random) -> list[Case]:
    logits, labels, weights = predictions_of(rng, 3, 4, 7, size=1)
    real = weights > 0
    logits[~real, labels[~real]] += 9
    logits[real, (labels[real] + 2) % 7] += 9
    return [Case((logits, labels, weights))]


EXERCISE = Exercise(
    reference=masked_accuracy,
    parts=(
        Part("values", 2, all_guesses, hidden=lambda rng: [Trial((case,)) for case in more_guesses(rng)]),
        cases("right only in the padding", 1, all_wrong_but_the_filling, "right predictions in the padding must not "
                                                                         "count"),
    ),
    forbidden=Forbidden("In this exercise you write it yourself.", ("keras.metrics",)),
    facts=lambda case: {"filling": int((case.arguments[2] == 0).sum()), "all": case.arguments[2].size},
    hints=(
        "The prediction is the token with the largest logit. It is right if it equals the label.",
        "`ops.argmax` over the vocabulary, `ops.equal`, and `ops.cast` to turn True and False into 1 and 0.",
        "Hits times weights, summed, over the sum of the weights.",
    ),
    misconceptions=(
        mistake("filling-counts", "ops.sum(hits * weights) / ops.sum(weights)", "ops.mean(hits)",
            hint="You count all {all} predictions. {filling} of them are padding and do not count."),
        mistake("divided-by-all-places", "ops.sum(hits * weights) / ops.sum(weights)", "ops.mean(hits * weights)",
            hint="You divide the hits by all {all} predictions, padding included, so even a perfect model stays "
                 "below 1."),
        mistake("mean-of-rows", "ops.sum(hits * weights) / ops.sum(weights)",
            "ops.mean(ops.sum(hits * weights, axis=1) / ops.sum(weights, axis=1))",
            hint="You take the accuracy of each row and then the mean of the rows. All predictions of the batch "
                 "have the same weight."),
        mistake("among-the-best-five", 'ops.cast(ops.equal(ops.argmax(logits, axis=-1), labels), "float32")',
            "ops.cast(ops.reshape(ops.in_top_k(ops.reshape(labels, (-1,)), ops.reshape(logits, (-1, "
            'logits.shape[-1])), 5), labels.shape), "float32")',
            hint="You count a prediction as right if the token is among the five best. Accuracy uses only the best "
                 "one."),
        mistake("hits-counted-not-shared", "ops.sum(hits * weights) / ops.sum(weights)", "ops.sum(hits * weights)",
            hint="You return the number of hits. The accuracy is their fraction of the predictions."),
        mistake("best-over-the-predictions", "ops.argmax(logits, axis=-1)", "ops.argmax(logits, axis=1)",
            hint="Your argmax goes over the predictions of a sequence. It must go over the vocabulary, the last axis: "
                 "one best token for each prediction."),
        mistake("hits-in-the-filling", "ops.sum(hits * weights)", "ops.sum(hits)",
            hint="You divide by the right number, but a hit in the padding counts too. Multiply the hits by the "
                 "weights before you add them."),
        mistake("percent", "return ops.sum(hits * weights)", "return 100 * ops.sum(hits * weights)",
            hint="You return percent. The accuracy is a fraction, between 0 and 1."),
    ),
)  # fmt: skip
