"""The loss of predicting each next token."""

import numpy as np

from autograde.exercises.n11_objectives._shared import READY_MADE_LOSSES, log_softmax, texts
from autograde.exercises.writing import Case, Exercise, Part, Random, Slopes, Trial, cases, mistake, normal


def ltr_loss(logits, ids, is_real):
    """Token by token: the one at t is predicted at t − 1."""
    losses = [
        -log_softmax(logits[row, t - 1])[ids[row, t]] for row, t in np.ndindex(ids.shape) if t and is_real[row, t] == 1
    ]
    return np.array(np.sum(losses) / (len(losses) + 1e-5))


def batch_of(rng: Random, rows: int, tokens: int, vocabulary: int, size: float = 2.0) -> Case:
    return Case((normal(rng, rows, tokens, vocabulary, size=size), *texts(rng, rows, tokens, vocabulary)))


def without_padding(rng: Random) -> list[Trial]:
    """Also one text of two tokens, a text whose last token is its first one again, and the gradient."""
    logits, ids, real = batch_of(rng, 3, 5, 6).arguments
    whole = Case((logits, ids, np.ones_like(real)))
    two = Case((normal(rng, 1, 2, 4), np.array([[0, 3]], "int32"), np.ones((1, 2), "int32")))
    slopes = Slopes(np.array(1.0), {0: normal(rng, 3, 5, 6)})
    return [Trial((whole,)), Trial((two,)), Trial((whole,), (slopes,))]


def padded(rng: Random) -> list[Case]:
    """Rows of several lengths, one with a hole, and one of a single token, which has nothing to predict."""
    logits, ids, real = batch_of(rng, 4, 6, 5).arguments
    real[0, 2], real[3, 1:] = 0, 0
    return [batch_of(rng, 3, 7, 7), Case((logits, ids, real))]


EXERCISE = Exercise(
    reference=ltr_loss,
    in_graph=True,
    parts=(
        Part("values", 2, without_padding,
            hidden=lambda rng: [Trial((Case((*batch_of(rng, 2, 8, 9).arguments[:2], np.ones((2, 8), "int32"))),))]),
        cases("padding", 1, padded, "with padding the loss is wrong: a prediction counts if the token that it asks for "
            "is a real one", lambda rng: [batch_of(rng, 5, 4, 8)]),
    ),
    forbidden=READY_MADE_LOSSES,
    facts=lambda case: {"last": case.arguments[1].shape[1] - 1},
    hints=(
        "Which token is the right answer at position 0? And at the last position?",
        "Of the logits leave out the last position, of the ids the first: then they belong together.",
        "Your `mlm_loss` of notebook 07 does the rest: logits, labels, weights. The weights are those of the *labels*.",
    ),
    misconceptions=(
        mistake("not-shifted", "logits[:, :-1], ids[:, 1:]", "logits[:, 1:], ids[:, 1:]",
            hint="At every position you ask for the token that is there, which the model has just read. Ask for "
                 "the next one: logits of t belong to the id of t + 1."),
        mistake("nothing-shifted", 'logits[:, :-1], ids[:, 1:], ops.cast(is_real[:, 1:], "float32")',
            'logits, ids, ops.cast(is_real, "float32")',
            hint="Every position is asked for the token that it has just read. Which token is the right answer at "
                 "position 0?"),
        mistake("shifted-back", "logits[:, :-1], ids[:, 1:]", "logits[:, 1:], ids[:, :-1]",
            hint="You ask at t for the token *before* it, which the model has seen. Exchange the two slices."),
        mistake("round-the-corner", cell="""def ltr_loss(logits, ids, is_real):
    targets = ops.roll(ids, -1, axis=1)
    return mlm_loss(logits, targets, ops.cast(ops.roll(is_real, -1, axis=1), "float32"))
""",
            hint="Your last position is asked for the *first* token: rolling goes round the corner. Position {last} "
                 "has no next token, so leave it out."),
        mistake("padding-counts", 'ops.cast(is_real[:, 1:], "float32")', 'ops.ones_like(logits[:, 1:, 0])',
            hint="Padding is asked for, too: a text is rewarded for being followed by [PAD]. Use `is_real`."),
        mistake("weights-of-the-input", "is_real[:, 1:]", "is_real[:, :-1]",
            hint="Your weights say whether the *reading* position is real. So the last real token is asked for the "
                 "padding behind it. The label must be real: take the weights where you take the labels."),
        mistake("sum-not-mean", "return mlm_loss(",
            "return (1e-5 + ops.sum(ops.cast(is_real[:, 1:], 'float32'))) * mlm_loss(",
            hint="This is the sum over all predictions. As in 7.2, take the mean over those that count."),
    ),
)  # fmt: skip
