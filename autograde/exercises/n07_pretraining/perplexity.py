"""Perplexity of many batches together."""

import numpy as np

from autograde.exercises.writing import Case, Exercise, Random, cases, mistake, values


def perplexity(losses, counts):
    """The geometric mean of e^loss."""
    return np.array(np.prod(np.exp(losses) ** (counts / counts.sum())))


def losses_of_batches(rng: Random) -> list[Case]:
    def case(batches):
        losses = (2 + 3 * rng.random(batches)).astype("float32")
        return Case((losses, rng.permutation(np.arange(1, batches + 1) * 7).astype("float32")))

    large = (9 + 5 * rng.random(4)).astype("float32")  # e¹⁰ is 22,026: the vocabulary of a model that knows nothing
    counts = np.array([900, 40, 3000, 7], "float32")
    return [case(3), case(5), Case((large, counts)), Case((5 * large, counts)), *unusual_batches(rng)]


def many_batches(rng: Random) -> list[Case]:
    return [Case(((6 * rng.random(40)).astype("float32"), (1 + rng.integers(0, 999, 40)).astype("float32")))]


def unusual_batches(rng: Random) -> list[Case]:
    """A batch without predictions, as the last and as the first; a perfect one, alone and among others."""
    losses, counts = np.array([3.0, 0.0, 1.5], "float32"), np.array([4, 3, 0], "float32")
    return [
        Case((losses + rng.random(3).astype("float32"), counts)), Case((np.zeros(2, "float32"), counts[:2])),
        Case((losses + rng.random(3).astype("float32"), counts[::-1].copy())), Case((losses, counts)),
    ]  # fmt: skip


def one_batch(rng: Random) -> list[Case]:
    """Equal probabilities for V tokens: the loss is ln V, the perplexity V."""
    pieces = int(rng.integers(20, 60))
    return [Case((np.log([pieces]).astype("float32"), np.array([9.0], "float32")))]


EXERCISE = Exercise(
    reference=perplexity,
    parts=(
        values(1, losses_of_batches, hidden=many_batches),
        cases("random predictions", 1, one_batch, "random predictions among V tokens must have perplexity V"),
    ),
    hints=(
        "First the mean loss of one prediction, over all batches; then exp of it.",
        "A batch's loss is a mean over `counts` predictions: loss · count is its sum again.",
        "Sum of loss · count over the sum of the counts, and `ops.exp` around it.",
    ),
    misconceptions=(
        mistake("batches-count-alike", "ops.sum(losses * counts) / ops.sum(counts)", "ops.mean(losses)",
            hint="You take the plain mean of the batches. A batch with more predictions must have more weight."),
        mistake("mean-of-perplexities", "ops.exp(ops.sum(losses * counts) / ops.sum(counts))",
            "ops.sum(ops.exp(losses) * counts) / ops.sum(counts)",
            hint="You take exp first and the mean afterwards. Perplexity is exp of the mean loss; exp is convex, so "
                 "your order gives a larger number."),
        mistake("no-exp",
            "ops.exp(ops.sum(losses * counts) / ops.sum(counts))", "ops.sum(losses * counts) / ops.sum(counts)",
            hint="This is the mean loss itself. Perplexity is e to that power."),
        mistake("base-two", "ops.exp(ops.sum(losses * counts) / ops.sum(counts))",
            "2.0 ** (ops.sum(losses * counts) / ops.sum(counts))",
            hint="You raise 2 to the loss. The loss uses the natural logarithm, so the base is e."),
        mistake("losses-not-weighted", "ops.sum(losses * counts)", "ops.sum(losses)",
            hint="You divide by the number of predictions, but add one mean loss per batch. First multiply each loss "
                 "by its count."),
        mistake("divided-by-the-batches", "ops.sum(losses * counts) / ops.sum(counts)", "ops.mean(losses * counts)",
            hint="You divide by the number of batches. losses · counts are sums over predictions: divide by the number "
                 "of all predictions."),
        mistake("minus-in-the-exponent", "ops.exp(ops.sum", "ops.exp(-ops.sum",
            hint="Your exponent has a minus. The loss already has it: e to the power of the loss is at least 1, as "
                 "the number of a die's faces."),
    ),
)  # fmt: skip
