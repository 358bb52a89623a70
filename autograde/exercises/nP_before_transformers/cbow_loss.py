"""The mean loss of words that are guessed from the mean of their neighbours' vectors."""

import numpy as np

from autograde.exercises.nP_before_transformers._shared import READY_MADE_LOSSES, log_softmax, some_real
from autograde.exercises.writing import Case, Exercise, Part, Random, Trial, draws, mistake, sized, values


def cbow_loss(table, w_out, context, is_real, target):
    means = [table[row[real == 1]].mean(axis=0) for row, real in zip(context, is_real)]
    return np.array(-np.mean([log_softmax(mean @ w_out)[word] for mean, word in zip(means, target)]))


def all_real(rng: Random, sizes) -> np.ndarray:
    return np.ones((sizes["batch"], sizes["window"]), "int32")


def some(rng: Random, sizes) -> np.ndarray:
    return some_real(rng, sizes["batch"], sizes["window"])


BY_HAND = Case(
    ([[1, 0], [0, 1], [1, 1]], [[1, 0, 1], [0, 2, 1]], [[0, 1], [1, 2]], [[1, 1], [1, 1]], [2, 0]),
    note="two words, two neighbours each",
)
DRAWN = {"context": "vocabulary", "target": "vocabulary", "scale": {"table": 0.5}}  # no very small probability
INPUTS = draws(__name__, BY_HAND, sized(batch=4, window=4), is_real=all_real, **DRAWN)
PADDED = draws(
    __name__, sized(batch=5, window=4), sized(batch=3, window=6), least={"batch": 2, "window": 2}, is_real=some, **DRAWN
)
SURE = draws(__name__, sized(batch=6, window=4, vocabulary=9, scale={"table": 400}), is_real=some, **DRAWN)


def sure(rng: Random) -> list[Trial]:
    """Scores of hundreds, of which the target has the lowest: its probability is 0 in float32; and gradients."""
    table, w_out, context, is_real, _ = SURE(rng)[0].arguments
    means = np.array([table[row[real == 1]].mean(axis=0) for row, real in zip(context, is_real)])
    lowest = (means @ w_out).argmin(axis=1).astype("int32")
    return [Trial((Case((table, w_out, context, is_real, lowest)),)), *PADDED.gradients(rng)]


EXERCISE = Exercise(
    reference=cbow_loss,
    in_graph=True,
    parts=(
        values(2, INPUTS),
        Part("padding", 1, lambda rng: [Trial((case,)) for case in PADDED(rng)],
            "padding must not count: the mean is over the real neighbours, wherever they are",
            hidden=lambda rng: [Trial((case,)) for case in PADDED.hidden(rng)]),
        Part("gradients", 1, sure,
            "with large scores the loss must be right and finite, and its gradients must reach both matrices"),
    ),
    forbidden=READY_MADE_LOSSES,
    facts=lambda case: {"window": case.arguments[2].shape[1]},
    hints=(
        "`ops.take(table, context, axis=0)` gives (batch, window, d), a vector for each neighbour. Which axis goes?",
        "A mean without padding: multiply each vector by its 1 or 0, add up, divide by the number of ones.",
        "The scores are one product with w_out, (batch, vocabulary). Then `ops.log_softmax`, and "
        "`ops.take_along_axis` with the target.",
    ),
    misconceptions=(
        mistake("sum-for-mean", " / ops.sum(weights, axis=1)", "",
            hint="You add the neighbours up. With the mean, a word at the edge of a sentence, with fewer "
                 "neighbours, has scores as large as any other."),
        mistake("divided-by-the-window", "ops.sum(weights, axis=1)", "context.shape[1]",
            hint="You divide by the size of the window, padding included. Divide by the number of real neighbours."),
        mistake("padding-averaged-in", "ops.sum(vectors * weights, axis=1) / ops.sum(weights, axis=1)",
            "ops.mean(vectors, axis=1)",
            hint="The vectors of padding are in your mean. Only neighbours with a 1 in is_real count."),
        mistake("each-neighbour-alone",
            "    mean = ops.sum(vectors * weights, axis=1) / ops.sum(weights, axis=1)\n"
            "    log_p = ops.log_softmax(ops.matmul(mean, w_out), axis=-1)\n",
            "    each = ops.log_softmax(ops.matmul(vectors, w_out), axis=-1)\n"
            "    log_p = ops.sum(each * weights, axis=1) / ops.sum(weights, axis=1)\n",
            hint="You guess the word from each neighbour alone and average the losses: that is nearly skip-gram. "
                 "CBOW averages the vectors first, and guesses once."),
        mistake("same-matrix-twice", "ops.matmul(mean, w_out)", "ops.matmul(mean, ops.transpose(table))",
            hint="You score the words with the table of neighbours. word2vec has two vectors for each word: the "
                 "second one, as the word to guess, is a column of w_out."),
        mistake("summed-over-the-batch", "-ops.mean", "-ops.sum",
            hint="You add up the losses of the batch. Take their mean, so that the loss does not grow with the "
                 "batch."),
        mistake("log-after-softmax", "ops.log_softmax(ops.matmul(mean, w_out), axis=-1)",
            "ops.log(ops.softmax(ops.matmul(mean, w_out), axis=-1))",
            hint="Right for small scores. For large ones a probability is rounded to 0, and its logarithm is −∞: "
                 "use `ops.log_softmax`."),
        mistake("logarithm-cut-off", "ops.log_softmax(ops.matmul(mean, w_out), axis=-1)",
            "ops.log(ops.softmax(ops.matmul(mean, w_out), axis=-1) + 1e-7)",
            hint="Your loss never gets larger than about 16: what you add inside of the logarithm hides how small a "
                 "probability is. `ops.log_softmax` needs no such help."),
        mistake("softmax-over-the-batch", "ops.matmul(mean, w_out), axis=-1", "ops.matmul(mean, w_out), axis=0",
            hint="Your softmax goes over the batch. It must go over the vocabulary, the last axis."),
    ),
)  # fmt: skip
