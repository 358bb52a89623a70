"""Start and end logits of every token."""

from dataclasses import replace

import numpy as np

from autograde.boundary import roles
from autograde.exercises.draws import Random, normal
from autograde.exercises.n08_finetuning._shared import READY_MADE, head_case
from autograde.exercises.spec import (
    Case,
    Exercise,
    HandsOn,
    OwnWeights,
    Part,
    Reference,
    Slopes,
    Trial,
    layer,
    mistake,
    values,
)

MASKED_SCORE = -1e9


def span_head(hidden, may_answer, training=None, *, weights, config):
    kernel, bias = weights["dense/kernel"], weights["dense/bias"]
    logits = np.stack([hidden @ kernel[:, side] + bias[side] for side in (0, 1)], axis=1)
    return np.where(may_answer[:, None, :], logits, MASKED_SCORE)


def _span_case(rng: Random, batch: int, tokens: int, width: int, may_answer) -> Case:
    return head_case(rng, normal(rng, batch, tokens, width), 2, {}, may_answer)


def all_may_answer(rng: Random) -> list[Case]:
    return [
        _span_case(rng, 3, 5, 4, np.ones((3, 5), bool)),
        _span_case(rng, 2, 2, 6, np.ones((2, 2), bool)),
        _span_case(rng, 3, 1, 2, np.ones((3, 1), bool)),
    ]


def other_texts(rng: Random) -> list[Case]:
    return [_span_case(rng, 1, 7, 3, np.ones((1, 7), bool)), _span_case(rng, 4, 1, 2, np.ones((4, 1), bool))]


def some_may_answer(rng: Random) -> list[Trial]:
    """Other tokens in each row; a row in which only [CLS] may; the layer is made with `trainable=False`."""
    may = rng.random((3, 6)) < 0.5
    may[:, 0], may[:, -1] = True, False
    may[1, 1:] = False
    case = _span_case(rng, 3, 6, 4, may)
    frozen = replace(case, config={"trainable": False})
    trained = replace(case, keywords={"training": True}, seed=1)  # SpanHead has no dropout: training changes nothing
    return [
        Trial((case,), (Reference(), OwnWeights(), HandsOn())), Trial((frozen,), (Reference(), OwnWeights())),
        Trial((trained,)), *no_token_may_answer(rng),
    ]  # fmt: skip


def no_token_may_answer(rng: Random) -> list[Trial]:
    """Rows in which no token may answer."""
    may = np.zeros((2, 4), bool)
    may[0, 2] = True
    return [Trial((_span_case(rng, 2, 4, 3, may),))]


def longer_texts(rng: Random) -> list[Trial]:
    return [Trial((_span_case(rng, 2, 17, 5, rng.random((2, 17)) < 0.5),))]


def slopes_of_spans(rng: Random) -> list[Trial]:
    """The gradients of the weights and of what comes from BERT, which is trained, too; some tokens may not answer."""
    case = _span_case(rng, 2, 4, 5, np.array([[True, False, True, True], [True, True, True, False]]))
    directions = {role: normal(rng, *weight.shape) for role, weight in case.weights.items()}
    directions[0] = normal(rng, 2, 4, 5)
    seen = normal(rng, 2, 2, 4) * case.arguments[1][:, None]  # −10⁹ in a sum would round the rest away
    return [Trial((case,), (Slopes(seen, directions),))]


EXERCISE = Exercise(
    probe=layer(roles.dense("dense")),
    reference=span_head,
    in_graph=True,
    parts=(
        values(2, all_may_answer, hidden=other_texts),
        Part("hidden positions", 1, some_may_answer,
            "where may_answer is False, both logits must be MASKED_SCORE; and `super().__init__` must get `**kwargs`, "
            "such as `trainable=False`",
            hidden=longer_texts),
        Part("gradients", 1, slopes_of_spans, "the head or BERT cannot be trained: gradients are wrong or missing"),
    ),
    forbidden=READY_MADE,
    hints=(
        "Dense(2) gives every token two numbers: (batch, tokens, 2). The result must be (batch, 2, tokens).",
        "Swapping two axes is a transpose. A reshape keeps the order of the numbers and only divides it differently.",
        "may_answer is (batch, tokens): add the axis of start and end before `ops.where`.",
    ),
    misconceptions=(
        mistake("kwargs-dropped", "super().__init__(**kwargs)", "super().__init__()",
            hint="`**kwargs` has no effect: hand it on to Keras's constructor. Keras's own arguments, such "
                 "as `trainable` and `name`, arrive there."),
        mistake("reshaped", "ops.transpose(logits, (0, 2, 1))", "ops.reshape(logits, (ops.shape(logits)[0], 2, -1))",
            hint="You reshape where axes must be swapped: start and end logits of half of the tokens end up in the "
                 "row of starts. Transpose."),
        mistake("not-transposed",
            "logits = ops.transpose(logits, (0, 2, 1))", "logits = logits",
            "ops.expand_dims(may_answer, axis=1)", "ops.expand_dims(may_answer, axis=-1)",
            hint="(batch, tokens, 2) is the output of Dense. Row 0 of the result must have the starts of all "
                 "tokens, row 1 the ends."),
        mistake("mask-ignored",
            "return ops.where(ops.expand_dims(may_answer, axis=1), logits, MASKED_SCORE)", "return logits",
            hint="Positions of the question and [PAD] can still be answers in yours. Their logits must "
                 "be MASKED_SCORE."),
        mistake("hidden-is-zero", "logits, MASKED_SCORE)", "logits, 0.0)",
            hint="A logit of 0 is an ordinary one, often larger than the right answer's. Use MASKED_SCORE, −10⁹, to "
                 "exclude a token."),
        mistake("mask-inverted", "logits, MASKED_SCORE)", "MASKED_SCORE, logits)",
            hint="You hide exactly the tokens that may answer."),
        mistake("start-or-end", "logits = self.dense(hidden)", "logits = ops.softmax(self.dense(hidden))",
            hint="Your softmax lets each token choose between being a start and an end. Tokens compete for the "
                 "start, and again for the end; the loss applies both softmaxes."),
    ),
)  # fmt: skip
