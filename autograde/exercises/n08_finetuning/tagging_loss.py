"""Mean cross-entropy over the positions that have a label."""

import numpy as np

from autograde.exercises.n08_finetuning._shared import IGNORED, READY_MADE
from autograde.exercises.writing import Case, Exercise, Forbidden, Part, Random, Slopes, Trial, mistake, normal


def tagging_loss(logits, labels):
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    logs = logits - logits.max(axis=-1, keepdims=True) - np.log(powers.sum(axis=-1, keepdims=True))
    rows, positions = np.nonzero(labels != IGNORED)
    if not len(rows):
        return np.array(0.0)
    return np.array(-np.mean(logs[rows, positions, labels[rows, positions]]))


def _labels(rng: Random, rows: int, tokens: int, classes: int) -> np.ndarray:
    """At least two labels in every row, of all classes, and rows with different numbers of them."""
    labels = rng.permutation(np.arange(rows * tokens) % classes).reshape(rows, tokens).astype("int32")
    for row in range(rows):
        labels[row, tokens - 1 - row :] = IGNORED
    labels[:, 0] = IGNORED
    labels[0, 1] = 0  # the first class is a class like any other
    return labels


def logits_and_labels(rng: Random) -> list[Trial]:
    case = Case((normal(rng, 2, 6, 3, size=2), _labels(rng, 2, 6, 3)))
    drawn = [
        case, Case((normal(rng, 3, 6, 6, size=2), _labels(rng, 3, 6, 6))), *a_sentence_without_labels(rng),
        *large_logits(rng), *many_labels(rng),
    ]  # fmt: skip
    slopes = Slopes(np.array(1.0), {0: normal(rng, 2, 6, 3)})
    return [*(Trial((case,)) for case in drawn), Trial((case,), (slopes,)), one_label(rng)]


def one_label(rng: Random) -> Trial:
    """One label in the whole batch."""
    logits, labels = normal(rng, 2, 3, 4, size=5), np.full((2, 3), IGNORED, "int32")
    labels[0, 1] = np.argmin(logits[0, 1])
    return Trial((Case((logits, labels)),))


def large_logits(rng: Random) -> list[Case]:
    """Each position has a level of its own, far above or below the others; one is confident and wrong."""
    logits, labels = normal(rng, 2, 4, 3), _labels(rng, 2, 4, 3)
    logits += (100 * (-1.0) ** np.arange(8).reshape(2, 4, 1)).astype("float32")
    logits[0, 1, 0] -= 1e4  # its label is 0
    return [Case((logits, labels)), Case((normal(rng, 2, 4, 3, size=200), labels))]


def many_labels(rng: Random) -> list[Case]:
    """Hundreds of labels; more than a thousand classes."""
    classes = np.array([[IGNORED, 1100, 5]], "int32")
    return [
        Case((normal(rng, 4, 160, 3), _labels(rng, 4, 160, 3))), Case((normal(rng, 1, 3, 1200), classes)),
    ]  # fmt: skip


def other_batches(rng: Random) -> list[Trial]:
    return [Trial((Case((normal(rng, 5, 9, 7), _labels(rng, 5, 9, 7))),))]


def a_sentence_without_labels(rng: Random) -> list[Case]:
    """One sentence of the batch has no label; labels between ignored positions; one label alone; rows
    of one position."""
    labels = _labels(rng, 3, 6, 3)
    labels[1], labels[2, 2] = IGNORED, IGNORED
    alone = np.full((2, 3), IGNORED, "int32")
    alone[1, 2] = 2
    single = np.array([[2], [IGNORED], [0]], "int32")  # one position
    return [
        Case((normal(rng, 3, 6, 3), labels)), Case((normal(rng, 2, 3, 4), alone)), Case((normal(rng, 3, 1, 3), single)),
    ]  # fmt: skip


def all_ignored(rng: Random) -> list[Trial]:
    """The loss and its gradient: a 0 / 0 that `where` hides is still in the gradient; a constant has none."""
    case = Case((normal(rng, 2, 4, 3), np.full((2, 4), IGNORED, "int32")))
    return [Trial((case,)), Trial((case,), (Slopes(np.array(1.0), {0: normal(rng, 2, 4, 3)}),))]


EXERCISE = Exercise(
    reference=tagging_loss,
    in_graph=True,
    parts=(
        Part("values", 3, logits_and_labels, hidden=other_batches),
        Part("no labels", 1, all_ignored,
            "a batch without labels must have the loss 0 and the gradient 0, not NaN and not None"),
    ),
    forbidden=Forbidden(READY_MADE.because, (*READY_MADE.names, "keras.losses")),
    hints=(
        "Per position: −log of the probability of the correct class. Then the mean, over the labelled positions.",
        "−100 is not a valid index: replace it by 0 (`ops.where`) before the look-up, and ignore the result.",
        "log_softmax, take_along_axis (or a one-hot product), times a mask of 0 and 1, summed, over the mask's sum.",
    ),
    misconceptions=(
        mistake("first-tag-ignored", "ops.not_equal(labels, IGNORED)", "labels > 0",
            hint="You also leave out the positions whose tag is 0. Only IGNORED (−100) marks a position without a "
                 "label; 0 is the first tag."),
        mistake("ignored-as-outside", "ops.cast(counts, logits.dtype)", "ops.ones_like(chosen)",
            hint="The positions with −100 count as if their tag were 0. Multiply their loss by 0."),
        mistake("mean-over-all", "ops.maximum(ops.sum(weights), 1)", "ops.sum(ops.ones_like(weights))",
            hint="You sum over the labelled positions and divide by all positions. Then the loss shrinks with every "
                 "[PAD]."),
        mistake("sum", " / ops.maximum(ops.sum(weights), 1)", "",
            hint="This is the sum of the losses. Divide by the number of labelled positions: the loss must not grow "
                 "with the batch."),
        mistake("sentence-by-sentence", "-ops.sum(chosen * weights) / ops.maximum(ops.sum(weights), 1)",
            "-ops.mean(ops.sum(chosen * weights, axis=-1) / ops.maximum(ops.sum(weights, axis=-1), 1))",
            hint="You take the mean of each sentence and then the mean of these. Then a word in a short sentence "
                 "counts more than one in a long sentence."),
        mistake("sign-forgotten", "return -ops.sum(", "return ops.sum(",
            hint="Your loss is negative: the logarithm of a probability is below 0. Training would make the correct "
                 "tags less likely."),
        mistake("no-log", "ops.log_softmax(logits, axis=-1)", "ops.softmax(logits, axis=-1)",
            hint="You average the probabilities of the correct classes, without the logarithm. −log makes a "
                 "confident mistake expensive."),
        mistake("log-after-softmax", "ops.log_softmax(logits, axis=-1)", "ops.log(ops.softmax(logits, axis=-1))",
            hint="Right for small logits. For large ones exp overflows to ∞, or a probability is rounded to 0, "
                 "whose logarithm is −∞. Use `ops.log_softmax`."),
        mistake("softmax-over-tokens", "ops.log_softmax(logits, axis=-1)", "ops.log_softmax(logits, axis=1)",
            hint="You apply softmax over the tokens. Apply it over the classes: the last axis."),
        mistake("zero-by-zero", "ops.maximum(ops.sum(weights), 1)", "ops.sum(weights)",
            hint="Right as long as there is a label. In a batch without labels the mean is 0 / 0; divide by at "
                 "least 1."),
    ),
)  # fmt: skip
