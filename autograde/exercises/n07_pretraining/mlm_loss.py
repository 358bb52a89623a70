"""The mean loss of a batch's predictions, without padding."""

import numpy as np

from autograde.exercises.n07_pretraining._shared import READY_MADE_LOSSES, log_softmax, predictions_of
from autograde.exercises.writing import Case, Exercise, Part, Random, Reference, Slopes, Trial, cases, mistake, normal


def mlm_loss(logits, labels, weights):
    """Prediction by prediction, without padding."""
    total, count = 0.0, 0.0
    for index in np.ndindex(labels.shape):
        total += weights[index] * -log_softmax(logits[index])[labels[index]]
        count += weights[index]
    return np.array(total / (count + 1e-5))


def batches_of_predictions(rng: Random) -> list[Case]:
    alone = Case((*predictions_of(rng, 3, 1, 5)[:2], np.array([[1], [0], [1]], "float32")))  # P = 1
    return [Case(predictions_of(rng, 2, 3, 7)), Case(predictions_of(rng, 4, 4, 9)), alone]


def other_batches(rng: Random) -> list[Case]:
    """One row; a row whose predictions are all padding; padding in front of a prediction; a vocabulary of thousands."""
    logits, labels, weights = predictions_of(rng, 3, 3, 4)
    weights[0], weights[1] = 0, (0, 1, 0)
    large_ids = np.array([[2049 + 2 * rng.integers(1000), rng.integers(256, 2000)]], "int32")
    return [
        Case(predictions_of(rng, 1, 5, 3)), Case((logits, labels, weights)),
        Case((normal(rng, 1, 2, 4200, size=2), large_ids, np.ones((1, 2), "float32"))),
    ]  # fmt: skip


def no_predictions(rng: Random) -> list[Trial]:
    """The loss and its gradient: a 0 / 0 that `where` hides is still in the gradient."""
    logits, labels, weights = predictions_of(rng, 2, 3, 5)
    case = Case((logits, labels, np.zeros_like(weights)))
    return [Trial((case,)), Trial((case,), (Slopes(np.array(1.0), {0: normal(rng, 2, 3, 5)}),))]


def large_logits(rng: Random) -> list[Case]:
    logits, labels, weights = predictions_of(rng, 3, 2, 6, size=1)
    logits[..., 0] += 1e4
    labels[:, 0] = 1 + labels[:, 0] % 5  # a confident, wrong prediction
    return [Case((logits, labels, weights)), Case((*levels(rng, 2, 3, 5, 100), np.ones((2, 3), "float32")))]


def levels(rng: Random, rows: int, predictions: int, pieces: int, height: float) -> tuple:
    """Logits of which every row has a level of its own, far above or below the others; some labels far below that."""
    logits, labels, _ = predictions_of(rng, rows, predictions, pieces, size=1)
    logits += (height * (-1.0) ** np.arange(rows * predictions).reshape(rows, predictions, 1)).astype("float32")
    logits[0, 0, labels[0, 0]] -= height
    return logits, labels


def one_prediction(rng: Random) -> Trial:
    """A single prediction, which shows the 0.00001 in the denominator: its loss is so large that rounding does not."""
    logits, labels, _ = predictions_of(rng, 2, 2, 5)
    labels[0, 0] = np.argmin(logits[0, 0])
    return Trial((Case((logits, labels, np.array([[1, 0], [0, 0]], "float32"))),), (Reference(rtol=4e-6),))


def batches_and_slopes(rng: Random) -> list[Trial]:
    case = Case(predictions_of(rng, 2, 3, 4))
    slopes = Trial((case,), (Slopes(np.array(1.0), {0: normal(rng, 2, 3, 4)}),))
    return [*(Trial((case,)) for case in batches_of_predictions(rng) + other_batches(rng)), slopes, one_prediction(rng)]


def larger_batch(rng: Random) -> list[Trial]:
    return [Trial((Case(predictions_of(rng, 6, 5, 12)),)), Trial((Case(predictions_of(rng, 1, 1, 3)),))]


EXERCISE = Exercise(
    reference=mlm_loss,
    in_graph=True,
    parts=(
        Part("values", 2, batches_and_slopes, hidden=larger_batch),
        Part("no predictions", 1, no_predictions, "a batch whose weights are all 0 has loss 0 and gradient 0"),
        cases("large logits", 1, large_logits,
            "a model that is confident and wrong must have a large, finite loss, without an upper bound"),
    ),
    forbidden=READY_MADE_LOSSES,
    facts=lambda case: {"filling": int((case.arguments[2] == 0).sum()), "all": case.arguments[2].size},
    hints=(
        "First one loss per prediction, (batch, predictions): minus the log softmax at the label.",
        "`ops.take_along_axis` needs the labels with one more axis, (batch, predictions, 1), and returns that shape.",
        "Then the fraction: losses times weights, summed, over the sum of the weights plus 0.00001.",
    ),
    misconceptions=(
        mistake("filling-counts", "ops.sum(losses * weights) / (ops.sum(weights) + 1e-5)", "ops.mean(losses)",
            hint="You take the mean over all {all} predictions. {filling} of them are padding, with weight 0: they "
                 "must count neither in the numerator nor in the denominator."),
        mistake("divided-by-all-places",
            "ops.sum(losses * weights) / (ops.sum(weights) + 1e-5)", "ops.mean(losses * weights)",
            hint="In the numerator the padding is gone, in the denominator it still counts: divide by the sum of "
                 "the weights, not by the number of predictions ({all})."),
        mistake("sum-not-mean", " / (ops.sum(weights) + 1e-5)", "",
            hint="This is ETraining's sum. BERT divides by the sum of the weights, so that a batch with more "
                 "predictions does not make a larger step."),
        mistake("mean-of-rows", "ops.sum(losses * weights) / (ops.sum(weights) + 1e-5)",
            "ops.mean(ops.sum(losses * weights, axis=1) / (ops.sum(weights, axis=1) + 1e-5))",
            hint="You take a mean per row and then the mean of the rows. A prediction in a row with few of them "
                 "then counts more; in BERT all predictions of a batch have the same weight."),
        mistake("nothing-over-nothing", "(ops.sum(weights) + 1e-5)", "ops.sum(weights)",
            hint="You divide by the sum of the weights alone. Add the 0.00001 to this sum, before you divide: a batch "
                 "without predictions would give 0/0 = NaN, and one NaN in a gradient makes every weight NaN."),
        mistake("log-after-softmax", "ops.log_softmax(logits, axis=-1)", "ops.log(ops.softmax(logits, axis=-1))",
            hint="Right for small logits. For large ones exp overflows to ∞, or a probability is rounded to 0, "
                 "whose logarithm is −∞. `ops.log_softmax` computes neither."),
        mistake("logits-as-logarithms", "ops.log_softmax(logits, axis=-1)", "logits",
            hint="You use the logits as if they were log probabilities. They are any numbers; log softmax turns a "
                 "row of them into logarithms of probabilities that sum to 1."),
        mistake("softmax-over-the-predictions", "ops.log_softmax(logits, axis=-1)", "ops.log_softmax(logits, axis=1)",
            hint="Your softmax goes over the predictions of a sequence. It must go over the vocabulary, the last axis: "
                 "each prediction has probabilities of its own, which sum to 1."),
        mistake("no-minus", "losses = -ops", "losses = ops",
            hint="Your loss is negative: logarithms of probabilities are. The loss of a prediction is minus the "
                 "logarithm."),
    ),
)  # fmt: skip
