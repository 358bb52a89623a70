"""The next-sentence head."""

from dataclasses import replace

import numpy as np

from autograde.boundary import roles
from autograde.exercises.draws import Random, normal
from autograde.exercises.n05_bert._shared import WHOLE_BERT, dense_weights, in_training, slopes
from autograde.exercises.numpy_bert import dense
from autograde.exercises.spec import (
    Case,
    Exercise,
    HandsOn,
    OwnWeights,
    Part,
    Reference,
    Trial,
    composed,
    layer,
    mistake,
    result_of,
)


def nsp_head(pooled, training=None, *, weights, config):
    return dense(pooled, weights, "dense")


def nsp_case(rng: Random, pooled: np.ndarray) -> Case:
    return Case((pooled,), {}, dense_weights(rng, "dense", pooled.shape[-1], 2))


def pooled_vectors(rng: Random) -> list[Case]:
    """Batches of several texts, and of a single one; a batch after a larger one."""
    first, second, single = (nsp_case(rng, np.tanh(normal(rng, *shape))) for shape in ((4, 6), (2, 3), (1, 5)))
    return [first, replace(second, first=(normal(rng, 3, 3),)), single]


def wide_heads_and_two_models(rng: Random) -> list[Trial]:
    made = [nsp_case(rng, np.tanh(normal(rng, 1, 2))), nsp_case(rng, np.tanh(normal(rng, 5, 9)))]
    return [*(Trial((case,)) for case in made), heads_of_two_models(rng)]


def heads_of_two_models(rng: Random) -> Trial:
    """Two models' poolers and heads side by side, each with weights of its own."""
    hidden = normal(rng, 3, 4, 5)
    case = composed(
        ("pooler", Case((hidden,), {}, dense_weights(rng, "dense", 5, 5))),
        ("pooler", Case((hidden,), {}, dense_weights(rng, "dense", 5, 5))),
        ("nsp-head", Case((result_of(0),), {}, dense_weights(rng, "dense", 5, 2))),
        ("nsp-head", Case((result_of(1),), {}, dense_weights(rng, "dense", 5, 2))),
    )
    return Trial((case,))


def two_heads(rng: Random) -> Trial:
    """Two heads side by side, each with weights of its own."""
    pooled = np.tanh(normal(rng, 3, 4))
    return Trial((composed(("nsp-head", nsp_case(rng, pooled)), ("nsp-head", nsp_case(rng, pooled))),))


def one_dense(rng: Random) -> list[Trial]:
    """Large and small vectors; nothing else acts, also in training; no other weights than those of one Dense."""
    case = nsp_case(rng, 30 * normal(rng, 3, 4))
    return [
        *(Trial((case,)) for case in pooled_vectors(rng)), Trial((case,), (Reference(), OwnWeights())),
        in_training(case), two_heads(rng),
    ]  # fmt: skip


def slopes_of_nsp_head(rng: Random) -> list[Trial]:
    case = nsp_case(rng, np.tanh(normal(rng, 3, 5)))
    return [Trial((case,), (HandsOn(), slopes(rng, case, *case.weights, 0, result=(3, 2))))]


EXERCISE = Exercise(
    probe=layer(roles.dense("dense")),
    reference=nsp_head,
    in_graph=True,
    parts=(
        Part("values", 1, one_dense, hidden=wide_heads_and_two_models),
        Part("gradients", 1, slopes_of_nsp_head,
            "weights, or the layers below, cannot be trained: gradients are wrong or missing; or `name` or "
            "`trainable=False` has no effect"),
    ),
    forbidden=WHOLE_BERT,
    hints=(
        "One linear layer, nothing else.",
        "Two outputs: a logit for each of the two answers.",
        "Logits are the numbers before softmax; the loss of notebook 07 uses them as they are.",
    ),
    misconceptions=(
        mistake("one-number", "keras.layers.Dense(2)", "keras.layers.Dense(1)",
            hint="You return one number for yes or no. BERT has two logits, one per answer, and applies softmax to "
                 "them."),
        mistake("probabilities", "return self.dense(pooled)", "return ops.softmax(self.dense(pooled), axis=-1)",
            hint="Your two numbers sum to 1: you applied softmax already. The head returns logits."),
        mistake("classes-exchanged", "return self.dense(pooled)", "return ops.flip(self.dense(pooled), axis=-1)",
            hint="You swapped the columns: 0 is IsNext, 1 is NotNext, in every published BERT."),
        mistake("not-to-the-pooler", "self.dense(pooled)", "self.dense(ops.stop_gradient(pooled))",
            hint="No gradient reaches the pooled vector, so the pooler would never be trained."),
        mistake("tanh-again", "return self.dense(pooled)", "return ops.tanh(self.dense(pooled))",
            hint="You apply tanh to the logits. The pooler has one already; logits may have any size."),
    ),
)  # fmt: skip
