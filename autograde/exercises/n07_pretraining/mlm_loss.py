"""The mean loss of a batch's predictions, filling left out."""

import numpy as np

from autograde.exercises.draws import Random
from autograde.exercises.n07_pretraining._shared import READY_MADE_LOSSES, log_softmax, predictions_of
from autograde.exercises.spec import Case, Exercise, cases, mistake, values


def mlm_loss(logits, labels, weights):
    """Prediction by prediction, those that are padding left out."""
    total, count = 0.0, 0.0
    for place in np.ndindex(labels.shape):
        total += weights[place] * -log_softmax(logits[place])[labels[place]]
        count += weights[place]
    return np.array(total / (count + 1e-5))


def batches_of_predictions(rng: Random) -> list[Case]:
    return [Case(predictions_of(rng, 2, 3, 7)), Case(predictions_of(rng, 4, 4, 9))]


def no_predictions(rng: Random) -> list[Case]:
    logits, labels, weights = predictions_of(rng, 2, 3, 5)
    return [Case((logits, labels, np.zeros_like(weights)))]


def large_logits(rng: Random) -> list[Case]:
    logits, labels, weights = predictions_of(rng, 3, 2, 6, size=1)
    logits[..., 0] += 300
    labels[:, 0] = 1 + labels[:, 0] % 5  # a prediction that is sure, and wrong
    return [Case((logits, labels, weights))]


EXERCISE = Exercise(
    reference=mlm_loss,
    parts=(
        values(2, batches_of_predictions),
        cases("no predictions", 1, no_predictions, "a batch whose weights are all 0 has loss 0"),
        cases("large logits", 1, large_logits, "a model that is sure and wrong has a large, finite loss"),
    ),
    forbidden=READY_MADE_LOSSES,
    facts=lambda case: {"filling": int((case.arguments[2] == 0).sum()), "all": case.arguments[2].size},
    hints=(
        "First one loss per prediction, (batch, predictions): minus the log softmax at the label.",
        "`ops.take_along_axis` needs the labels with one axis more, (batch, predictions, 1), and gives that back.",
        "Then the fraction: losses times weights, summed, over the sum of the weights plus 0.00001.",
    ),
    misconceptions=(
        mistake("filling-counts", "ops.sum(losses * weights) / (ops.sum(weights) + 1e-5)", "ops.mean(losses)",
            hint="You take the mean over all {all} places. {filling} of them are filling, with weight 0: they must "
                 "count neither above nor below the fraction line."),
        mistake("divided-by-all-places",
            "ops.sum(losses * weights) / (ops.sum(weights) + 1e-5)", "ops.mean(losses * weights)",
            hint="Above the line the filling is gone, below it still counts: divide by the sum of the weights, not "
                 "by the number of places ({all})."),
        mistake("sum-not-mean", " / (ops.sum(weights) + 1e-5)", "",
            hint="This is ETraining's sum. BERT divides by the sum of the weights, so that a batch with more "
                 "predictions does not make a longer step."),
        mistake("mean-of-rows", "ops.sum(losses * weights) / (ops.sum(weights) + 1e-5)",
            "ops.mean(ops.sum(losses * weights, axis=1) / (ops.sum(weights, axis=1) + 1e-5))",
            hint="You take a mean per row and then the mean of the rows. A prediction in a row with few of them then "
                 "counts more; in BERT all predictions of a batch count alike."),
        mistake("nothing-over-nothing", "(ops.sum(weights) + 1e-5)", "ops.sum(weights)",
            hint="Right, but for a batch without predictions: 0/0 is NaN, and one NaN in a gradient spoils every "
                 "weight. That is what the 0.00001 below the line is for."),
        mistake("log-after-softmax", "ops.log_softmax(logits, axis=-1)", "ops.log(ops.softmax(logits, axis=-1))",
            hint="Right for small logits. Where softmax rounds a chance to 0, its logarithm is −∞. `ops.log_softmax` "
                 "never forms the tiny number."),
        mistake("logits-as-logarithms", "ops.log_softmax(logits, axis=-1)", "logits",
            hint="You use the logits as if they were log chances. They are any numbers; log softmax makes a row of "
                 "them into the logarithms of shares that sum to 1."),
    ),
)  # fmt: skip
