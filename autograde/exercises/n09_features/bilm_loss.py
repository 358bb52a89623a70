"""The loss of a forward and a backward language model with one output matrix."""

import numpy as np

from autograde.exercises.n09_features._shared import READY_MADE_LOSSES, log_softmax, real_words
from autograde.exercises.writing import Case, Exercise, Part, Random, Trial, draws, mistake, sized, values

LEAST = {"vocabulary": 3, "positions": 2, "batch": 2, "d": 2}


def bilm_loss(forward, backward, w_out, forward_targets, backward_targets, is_real):
    """Position by position."""
    paid = [
        -log_softmax(forward[at] @ w_out)[forward_targets[at]] - log_softmax(backward[at] @ w_out)[backward_targets[at]]
        for at in zip(*np.nonzero(is_real))
    ]
    return np.array(np.mean(paid))


def inputs(is_real):
    return draws(
        __name__, sized(batch=3, positions=4, d=3, vocabulary=5), sized(batch=1, positions=1, d=2, vocabulary=4),
        forward_targets="vocabulary", backward_targets="vocabulary", is_real=is_real, least=LEAST, scale={"w_out": 2.0},
    )  # fmt: skip


WHOLE = inputs(lambda rng, sizes: np.ones((sizes["batch"], sizes["positions"]), "int32"))
PADDED = inputs(lambda rng, sizes: real_words(rng, sizes["batch"], sizes["positions"]))


def padding(rng: Random) -> list[Trial]:
    """Rows of several lengths; and one case with other vectors and targets at its padding."""
    case = PADDED.case(rng, batch=3, positions=5, vocabulary=6)
    forward, backward, w_out, targets, others, real = case.arguments
    hidden = (1 - real).astype("float32")[..., None]
    changed = Case(
        (forward + 3 * hidden, backward - 2 * hidden, w_out, np.where(real == 1, targets, 1).astype("int32"),
         np.where(real == 1, others, 2).astype("int32"), real),
    )  # fmt: skip
    return [Trial((one,)) for one in (*PADDED(rng), case, changed)]


def large_scores(rng: Random) -> list[Case]:
    """Scores hundreds apart, whose target is the least likely word."""
    forward, backward, w_out, *others = WHOLE.case(rng, batch=2, positions=3, d=3, vocabulary=4).arguments
    forward[..., 0], backward[..., 0] = 200, 200
    w_out[0] = [1, -1, 0, 0.5]
    targets = np.ones((2, 3), "int32")
    return [Case((forward, backward, w_out, targets, targets.copy(), others[-1]))]


EXERCISE = Exercise(
    reference=bilm_loss,
    in_graph=True,
    parts=(
        values(2, WHOLE),
        Part("padding", 1, padding, "with padding the loss is wrong: only real positions count, in the sum and in its "
            "divisor", hidden=lambda rng: [Trial((case,)) for case in PADDED.hidden(rng)]),
        Part("gradients, large scores", 1, lambda rng: [
            *WHOLE.gradients(rng), *(Trial((case,)) for case in large_scores(rng))],
            "gradients must reach both models and the matrix, and large scores must give a finite, right loss"),
    ),
    forbidden=READY_MADE_LOSSES,
    facts=lambda case: {"positions": int(case.arguments[5].sum())},
    hints=(
        "It is the loss of a language model, twice, with other vectors and other targets and the same matrix.",
        "`ops.take_along_axis(log_p, targets[..., None], axis=-1)` looks up the target at each position.",
        "Padding has weight 0: multiply by `is_real` as floats, and divide by the number of real positions.",
    ),
    misconceptions=(
        mistake("mean-of-both", "    return loss\n", "    return loss / 2\n",
            hint="You take the mean of the two directions. The text has their sum: both likelihoods are maximised."),
        mistake("forward-only", "((forward, forward_targets), (backward, backward_targets))",
            "((forward, forward_targets),)",
            hint="You leave out the backward model: it would never learn."),
        mistake("one-target-for-both", "(backward, backward_targets))", "(backward, forward_targets))",
            hint="Your backward model is asked for the forward targets. It has `backward_targets` of "
                 "its own."),
        mistake("directions-crossed", "((forward, forward_targets), (backward, backward_targets))",
            "((forward, backward_targets), (backward, forward_targets))",
            hint="You ask each model for the other one's targets."),
        mistake("padding-counts", "ops.cast(is_real, w_out.dtype)", "ops.ones_like(is_real, dtype=w_out.dtype)",
            hint="Padding counts in your loss, as if it were a word to predict. Use `is_real`."),
        mistake("divided-by-all-places", "ops.sum(of_targets * counts) / ops.sum(counts)",
            "ops.mean(of_targets * counts)",
            hint="You divide by all positions, padding included. Divide by the number of real ones."),
        mistake("mean-of-sentences", "ops.sum(of_targets * counts) / ops.sum(counts)",
            "ops.mean(ops.sum(of_targets * counts, axis=1) / ops.sum(counts, axis=1))",
            hint="You average within each sentence first, so that a word of a short sentence counts more. All words of "
                 "the batch have the same weight."),
        mistake("sum-not-mean", "ops.sum(of_targets * counts) / ops.sum(counts)", "ops.sum(of_targets * counts)",
            hint="This is the sum over {positions} positions: it grows with the batch. Take the mean."),
        mistake("vectors-added-first",
            "((forward, forward_targets), (backward, backward_targets))",
            "((forward + backward, forward_targets), (forward + backward, backward_targets))",
            hint="You add the two vectors before you score. Then each direction sees what the other has read, its own "
                 "target among it."),
        mistake("wrong-sign", "loss = loss - ops.sum", "loss = loss + ops.sum",
            hint="Your loss is negative: it would be smallest where the targets are least likely. −log."),
        mistake("log-of-a-softmax", "ops.log_softmax(ops.matmul(states, w_out), axis=-1)",
            "ops.log(ops.softmax(ops.matmul(states, w_out), axis=-1))",
            hint="Right for small scores. For large ones a probability is rounded to 0, whose logarithm is −∞: use "
                 "`ops.log_softmax`."),
        mistake("probabilities-not-logarithms", "ops.log_softmax(", "ops.softmax(",
            hint="You add up probabilities. The loss has their logarithms."),
    ),
)  # fmt: skip
