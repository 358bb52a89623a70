"""Classifies a whole text by the vector of [CLS]."""

import numpy as np

from autograde.exercises import roles
from autograde.exercises.draws import Random, normal
from autograde.exercises.n08_finetuning._shared import READY_MADE, head_case
from autograde.exercises.spec import Case, Exercise, Part, Same, Slopes, Trial, layer, mistake, values


def texts(rng: Random) -> list[Case]:
    return [
        head_case(rng, normal(rng, 4, 3, 6), 5, {"num_labels": 5}),
        head_case(rng, normal(rng, 3, 3, 3), 3, {"num_labels": 3}),
    ]


def only_cls_changes(rng: Random) -> list[Trial]:
    """The same [CLS] vectors with other tokens give the same logits."""
    case = head_case(rng, normal(rng, 3, 5, 4), 2, {"num_labels": 2})
    other = normal(rng, 3, 5, 4)
    other[:, 0] = case.arguments[0][:, 0]
    pair = (case, Case((other,), {}, case.weights, case.config))
    return [Trial(pair, (Same((0, -2, (0, 1, 2)), (1, -2, (0, 1, 2))),))]


def slopes_of_head(rng: Random) -> list[Trial]:
    case = head_case(rng, normal(rng, 4, 3, 6), 5, {"num_labels": 5})
    directions = {role: normal(rng, *weight.shape) for role, weight in case.weights.items()}
    return [Trial((case,), (Slopes(normal(rng, 4, 5), directions),))]


EXERCISE = Exercise(
    probe=layer(roles.dense("dense")),
    reference=lambda hidden, weights, config: (
        np.einsum("bh,hc->bc", hidden[:, 0], weights["dense/kernel"]) + weights["dense/bias"]
    ),
    parts=(
        values(1, texts),
        Part("[CLS] decides", 1, only_cls_changes, "the vectors after [CLS] must not change the result"),
        Part("gradients", 1, slopes_of_head, "the weights cannot be trained: their gradients are wrong or missing"),
    ),
    forbidden=READY_MADE,
    hints=(
        "How many vectors go in per text, and how many come out? One token represents the whole text.",
        "[CLS] has index 0 on the axis of tokens, which is the middle one.",
        "Three lines: take that vector, apply self.dropout (with training=training), then self.dense.",
    ),
    misconceptions=(
        mistake("mean-of-tokens", "hidden[:, 0]", "ops.mean(hidden, axis=1)",
            hint="You average over all tokens, [PAD] included. BERT's head reads one vector: that of [CLS]."),
        mistake("last-token", "hidden[:, 0]", "hidden[:, -1]",
            hint="You read the last token's vector, which for most texts is [PAD]. [CLS] is the first."),
        mistake("first-text", "hidden[:, 0]", "hidden[0]",
            hint="hidden[0] is the first text of the batch, with all its tokens. You want the first token of every "
                 "text."),
        mistake("every-token", "hidden[:, 0]", "hidden",
            hint="You have logits for every token. That is tagging; a text has one class, computed from [CLS]."),
        mistake("shares", "return self.dense(cls)", "return ops.softmax(self.dense(cls))",
            hint="These are probabilities, after a softmax. The loss applies the softmax itself (from_logits=True): "
                 "return logits."),
        mistake("squashed", "return self.dense(cls)", "return ops.tanh(self.dense(cls))",
            hint="You apply tanh to the logits, so no class can get a probability near 1. (The pooler has a tanh, "
                 "before W.)"),
    ),
)  # fmt: skip
