"""ELECTRA's loss: the generator's masked words, and 50 times the discriminator's yes or no at every token."""

import numpy as np

from autograde.exercises.n07_pretraining._shared import predictions_of
from autograde.exercises.n07_pretraining.mlm_loss import mlm_loss
from autograde.exercises.n11_objectives._shared import READY_MADE_LOSSES, padded_rows
from autograde.exercises.writing import Case, Exercise, Part, Random, Slopes, Trial, cases, mistake, normal


def electra_loss(generator_logits, labels, weights, scores, replaced, is_real):
    """Token by token, with log(1 + exp(−s)) as logaddexp."""
    found = [
        np.logaddexp(0, -scores[place] if replaced[place] else scores[place])
        for place in np.ndindex(replaced.shape)
        if is_real[place]
    ]
    return np.array(mlm_loss(generator_logits, labels, weights) + 50 * np.mean(found))


def batch_of(rng: Random, rows: int, tokens: int, size: float = 1.5) -> Case:
    """Replaced tokens in each row, and some labels at padding, which do not count."""
    real, replaced = padded_rows(rng, rows, tokens), (rng.random((rows, tokens)) < 0.3).astype("int32")
    replaced[:, 0], replaced[:, 1] = 0, 1
    return Case((*predictions_of(rng, rows, 2, 5), normal(rng, rows, tokens, size=size), replaced, real))


def whole_texts(rng: Random) -> list[Trial]:
    """Without padding; nothing replaced; and gradients of both parts."""
    *others, real = batch_of(rng, 2, 5).arguments
    case = Case((*others, np.ones_like(real)))
    nothing = Case((*others[:4], np.zeros_like(others[4]), np.ones_like(real)))
    slopes = Slopes(np.array(1.0), {0: normal(rng, *others[0].shape), 3: normal(rng, *others[3].shape)})
    return [Trial((case,)), Trial((nothing,)), Trial((case,), (slopes,))]


def padded(rng: Random) -> list[Case]:
    return [batch_of(rng, 3, 6), batch_of(rng, 2, 4)]


def large_scores(rng: Random) -> list[Trial]:
    """Sure and wrong: the loss is large and finite, and so is the gradient."""
    *others, real = batch_of(rng, 2, 5).arguments
    others[3] = (200 * (1 - 2 * others[4]) + normal(rng, 2, 5)).astype("float32")
    case = Case((*others, real))
    return [Trial((case,)), Trial((case,), (Slopes(np.array(1.0), {3: normal(rng, 2, 5)}),))]


EXERCISE = Exercise(
    reference=electra_loss,
    in_graph=True,
    parts=(
        Part("values", 2, whole_texts, hidden=lambda rng: [Trial((Case((*batch_of(rng, 4, 7).arguments[:-1],
                                                                       np.ones((4, 7), "int32"))),))]),
        cases("padding", 1, padded, "with padding the loss is wrong: all real tokens count, and no others",
            lambda rng: [batch_of(rng, 5, 3)]),
        Part("large scores", 1, large_scores, "a discriminator that is sure and wrong has a large, finite loss and "
            "gradient"),
    ),
    forbidden=READY_MADE_LOSSES,
    hints=(
        "Two numbers: your `mlm_loss` of the generator, and the mean loss of the discriminator over all real tokens.",
        "−log σ(s) is softplus(−s), and −log(1 − σ(s)) is softplus(s). Which sign belongs to which label?",
        "With labels 0 and 1 the sign is 1 − 2 · replaced: then one softplus does both. Weight by `is_real`, divide by "
        "its sum.",
    ),
    misconceptions=(
        mistake("chosen-only", "real = ops.cast(is_real, scores.dtype)",
            "real = ops.cast(replaced * is_real, scores.dtype)",
            hint="Only the replaced tokens count in your discriminator's loss; it could answer \"replaced\" "
                 "everywhere. All real tokens count: that is where ELECTRA gets more signal than BERT."),
        mistake("padding-counts", "real = ops.cast(is_real, scores.dtype)", "real = ops.ones_like(scores)",
            hint="Padding counts in the discriminator's loss. Take the mean over the real tokens."),
        mistake("no-factor", "50.0 * found", "found",
            hint="The factor 50 is missing. The discriminator's loss is a yes or no, far smaller than the generator's "
                 "loss over a whole vocabulary; without the factor it would hardly matter."),
        mistake("factor-on-the-generator", "mlm_loss(generator_logits, labels, weights) + 50.0 * found",
            "50.0 * mlm_loss(generator_logits, labels, weights) + found",
            hint="The factor 50 belongs to the discriminator, not to the generator."),
        mistake("labels-turned", "1.0 - 2.0 * ", "2.0 * ", "ops.cast(replaced, scores.dtype)",
            "ops.cast(replaced, scores.dtype) - 1.0",
            hint="Your discriminator is rewarded for calling the originals replaced: 1 is \"replaced\", and its score "
                 "must be high there."),
        mistake("sum-not-mean", " / ops.sum(real)", "",
            hint="You add the losses of all tokens. Take their mean, so that a batch with more tokens does not make a "
                 "larger step."),
        mistake("sigmoid-then-log", "ops.softplus(sign * scores)", "-ops.log(ops.sigmoid(-sign * scores))",
            hint="Right for small scores. For large ones the sigmoid is rounded to 0, and its logarithm is −∞. "
                 "`ops.softplus` computes −log σ directly."),
    ),
)  # fmt: skip
