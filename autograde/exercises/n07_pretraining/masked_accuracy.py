"""The share of predictions whose piece with the largest logit is the true one, filling left out."""

import numpy as np

from autograde.exercises.draws import Random
from autograde.exercises.n07_pretraining._shared import predictions_of
from autograde.exercises.spec import Case, Exercise, Forbidden, cases, mistake, values


def masked_accuracy(logits, labels, weights):
    right = [weights[place] for place in np.ndindex(labels.shape) if logits[place].argmax() == labels[place]]
    return np.array(sum(right) / weights.sum())


def guesses(rng: Random, rows: int, predictions: int, pieces: int) -> Case:
    """Half of the predictions are right, and one more of the filling is."""
    logits, labels, weights = predictions_of(rng, rows, predictions, pieces, size=1)
    right = rng.random(labels.shape) < 0.5
    right[0, 0], right[1, 0] = True, False
    right |= weights == 0
    logits[right, labels[right]] += 8
    wrong = ~right
    logits[wrong, (labels[wrong] + 1) % pieces] += 8
    return Case((logits, labels, weights))


def batches_of_guesses(rng: Random) -> list[Case]:
    return [guesses(rng, 3, 4, 9), guesses(rng, 5, 3, 8)]


def all_wrong_but_the_filling(rng: Random) -> list[Case]:
    logits, labels, weights = predictions_of(rng, 3, 4, 7, size=1)
    real = weights > 0
    logits[~real, labels[~real]] += 9
    logits[real, (labels[real] + 2) % 7] += 9
    return [Case((logits, labels, weights))]


EXERCISE = Exercise(
    reference=masked_accuracy,
    parts=(
        values(2, batches_of_guesses),
        cases("right only in the filling", 1, all_wrong_but_the_filling, "right guesses in the filling earn nothing"),
    ),
    forbidden=Forbidden("This exercise is about writing it yourself.", ("keras.metrics", "bertlab.training")),
    facts=lambda case: {"filling": int((case.arguments[2] == 0).sum()), "all": case.arguments[2].size},
    hints=(
        "A guess is the piece with the largest logit. It is right where it equals the label.",
        "`ops.argmax` over the vocabulary, `ops.equal`, and `ops.cast` to make true and false into 1 and 0.",
        "Hits times weights, summed, over the sum of the weights.",
    ),
    misconceptions=(
        mistake("filling-counts", "ops.sum(hits * weights) / ops.sum(weights)", "ops.mean(hits)",
            hint="You count all {all} places. {filling} of them are filling and nobody's guess."),
        mistake("divided-by-all-places", "ops.sum(hits * weights) / ops.sum(weights)", "ops.mean(hits * weights)",
            hint="You divide the hits by all {all} places, filling included, so even a perfect model stays below 1."),
        mistake("mean-of-rows", "ops.sum(hits * weights) / ops.sum(weights)",
            "ops.mean(ops.sum(hits * weights, axis=1) / ops.sum(weights, axis=1))",
            hint="You take each row's share and then the mean of the rows. Every prediction counts alike, wherever "
                 "it stands."),
        mistake("among-the-best-five", 'ops.cast(ops.equal(ops.argmax(logits, axis=-1), labels), "float32")',
            "ops.cast(ops.reshape(ops.in_top_k(ops.reshape(labels, (-1,)), ops.reshape(logits, (-1, "
            'logits.shape[-1])), 5), labels.shape), "float32")',
            hint="You count a guess as right if it is among the five best. Accuracy asks for the best one."),
        mistake("hits-counted-not-shared", "ops.sum(hits * weights) / ops.sum(weights)", "ops.sum(hits * weights)",
            hint="You count the hits. The accuracy is their share of the predictions."),
    ),
)  # fmt: skip
