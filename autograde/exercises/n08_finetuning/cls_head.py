"""Classifies a whole text by the vector of [CLS]."""

from dataclasses import replace

import numpy as np

from autograde.boundary import roles
from autograde.exercises.draws import Random, normal
from autograde.exercises.n08_finetuning._shared import READY_MADE, head_case
from autograde.exercises.spec import (
    Case,
    Dropped,
    Exercise,
    HandsOn,
    OwnWeights,
    Part,
    Reference,
    Same,
    Slopes,
    Trial,
    layer,
    mistake,
    values,
)


def texts(rng: Random) -> list[Case]:
    return [
        head_case(rng, normal(rng, 4, 3, 6), 5, {"num_labels": 5}),
        head_case(rng, normal(rng, 3, 3, 3), 3, {"num_labels": 3}),
        head_case(rng, normal(rng, 1, 2, 4, size=50), 2, {"num_labels": 2}),
        head_case(rng, normal(rng, 3, 1, 2), 1, {"num_labels": 1}),
    ]


def other_texts(rng: Random) -> list[Case]:
    return [
        head_case(rng, normal(rng, 1, 1, 4), 1, {"num_labels": 1}),
        head_case(rng, normal(rng, 5, 2, 3), 7, {"num_labels": 7}),
    ]


def dropout_in_training(rng: Random) -> list[Trial]:
    """With an identity for W and b of 0 the logits show which numbers of C were dropped; equal columns of W give equal
    logits, if C is dropped and not the logits."""
    wide = 96
    weights = {"dense/kernel": np.eye(wide, dtype="float32"), "dense/bias": np.zeros(wide, "float32")}
    config, seed = {"num_labels": wide, "dropout": 0.4}, int(rng.integers(2**20))
    case = Case((1 + rng.random((4, 2, wide)).astype("float32"),), {"training": True}, weights, config, seed=seed)
    other = replace(case, seed=seed + 1)
    default = {"num_labels": wide}
    frozen = replace(case, config={"num_labels": wide, "dropout": 0.0, "trainable": False})
    equal = {"dense/kernel": np.repeat(normal(rng, 6, 1), 24, axis=1), "dense/bias": np.full(24, 0.5, "float32")}
    sums = replace(case, arguments=(normal(rng, 8, 2, 6),), weights=equal, config={"num_labels": 24, "dropout": 0.4})
    return [
        Trial((case, other), (Dropped(0.4), Dropped(0.4, answer=1, unlike=0))),
        Trial((replace(case, config=default),), (Dropped(0.1),)),
        Trial((sums,), (Same((0, -1, tuple(range(12))), (0, -1, tuple(range(12, 24)))),)),
        Trial((replace(case, keywords={"training": False}),)),
        Trial((replace(case, keywords={}),), (Reference(), HandsOn())),
        Trial((frozen,), (Reference(), OwnWeights())),
    ]  # fmt: skip


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
    directions[0] = normal(rng, 4, 3, 6)  # through the head into BERT, which is trained, too
    return [Trial((case,), (Slopes(normal(rng, 4, 5), directions),))]


EXERCISE = Exercise(
    probe=layer(roles.dense("dense")),
    reference=lambda hidden, training=None, *, weights, config: (
        np.einsum("bh,hc->bc", hidden[:, 0], weights["dense/kernel"]) + weights["dense/bias"]
    ),
    in_graph=True,
    parts=(
        values(1, texts, hidden=other_texts),
        Part("[CLS] decides", 0.5, only_cls_changes, "the vectors after [CLS] must not change the result"),
        Part("dropout", 1, dropout_in_training,
            "in training, and only there, dropout must act on C with the rate `dropout`, before W; and "
            "`super().__init__` must get `**kwargs`, such as `trainable=False`"),
        Part("gradients", 0.5, slopes_of_head, "the head or BERT cannot be trained: gradients are wrong or missing"),
    ),
    forbidden=READY_MADE,
    hints=(
        "How many vectors go in per text, and how many come out? One token represents the whole text.",
        "[CLS] has index 0 on the axis of tokens, which is the middle one.",
        "Three lines: take that vector, apply self.dropout (with training=training), then self.dense.",
    ),
    misconceptions=(
        mistake("pooler-in-front", "self.dropout(cls, training=training)",
            "self.dropout(ops.tanh(cls), training=training)",
            hint="You apply tanh to the vector of [CLS], as BERT's pooler does. This head reads the vector as it is."),
        mistake("kwargs-dropped", "super().__init__(**kwargs)", "super().__init__()",
            hint="`**kwargs` has no effect: hand it on to Keras's constructor. Keras's own arguments, such "
                 "as `trainable` and `name`, arrive there."),
        mistake("always-ten-percent", "keras.layers.Dropout(dropout)", "keras.layers.Dropout(0.1)",
            hint="Your dropout has the rate 0.1 always. Use the argument `dropout`."),
        mistake("nothing-dropped", "self.dropout(cls, training=training)", "cls",
            hint="Your head drops nothing in training. The layer of dropout has to be called, too: on which vector?"),
        mistake("logits-dropped",
            "        cls = self.dropout(cls, training=training)\n        return self.dense(cls)",
            "        return self.dropout(self.dense(cls), training=training)",
            hint="You apply dropout to the logits. It acts between C and W: on the vector of [CLS], before the linear "
                 "layer."),
        mistake("dropout-always", "training=training)", "training=True)",
            hint="Numbers are dropped outside of training: pass on `training` unchanged."),
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
