"""The scores of the choices of each question."""

import numpy as np

from autograde.exercises.n08_finetuning._shared import READY_MADE
from autograde.exercises.writing import Case, Exercise, Part, Random, Same, Slopes, Trial, mistake, normal, values


def choices(rng: Random) -> list[Case]:
    """Questions × choices: 2 × 4, and 3 × 3, where a wrong reshape has the right shape; one question with large scores;
    one choice for each; one token in a sequence."""
    return [
        Case((normal(rng, 8, 3, 5), normal(rng, 5), 4)),
        Case((normal(rng, 9, 4, 6), normal(rng, 6), 3)),
        Case((normal(rng, 4, 2, 3, size=40), normal(rng, 3, size=10), 4)),
        Case((normal(rng, 3, 2, 4), normal(rng, 4), 1)),
        Case((normal(rng, 6, 1, 3), normal(rng, 3), 2)), Case((normal(rng, 1, 1, 2), normal(rng, 2), 1)),
    ]  # fmt: skip


def other_choices(rng: Random) -> list[Case]:
    return [Case((normal(rng, 4, 3, 2), normal(rng, 2), 4)), Case((normal(rng, 14, 2, 4), normal(rng, 4), 7))]


def each_question_alone(rng: Random) -> list[Trial]:
    hidden, v = normal(rng, 12, 3, 5), normal(rng, 5)
    second = Case((hidden[3:6], v, 3))
    slopes = Slopes(normal(rng, 1, 3), {0: normal(rng, 3, 3, 5), 1: normal(rng, 5)})
    return [Trial((Case((hidden, v, 3)), second), (Same((0, -2, (1,)), (1, -2, (0,))),)), Trial((second,), (slopes,))]


EXERCISE = Exercise(
    reference=lambda hidden, v, choices: np.array(
        [[row[0] @ v for row in hidden[start : start + choices]] for start in range(0, len(hidden), choices)]
    ),
    parts=(
        values(2, choices, hidden=other_choices),
        Part("each question independently", 1, each_question_alone,
            "one question's scores must not change another's, and `v` and the encoder must be trained"),
    ),
    forbidden=READY_MADE,
    facts=lambda case: {"choices": case.arguments[2]},
    hints=(
        "Every sequence gets one number: the dot product of its [CLS] vector with v.",
        "The sequences of one question are adjacent: first all choices of question 1, then all of question 2.",
        "After the product you have one number per sequence, (batch · choices,). One reshape gives the result.",
    ),
    misconceptions=(
        mistake("choices-apart",
            "ops.reshape(scores, (-1, choices))", "ops.transpose(ops.reshape(scores, (choices, -1)))",
            hint="Your reshape assumes choice 1 of all questions first, then choice 2. The sequences of one "
                 "question are adjacent, {choices} in a row."),
        mistake("shares",
            "return ops.reshape(scores, (-1, choices))", "return ops.softmax(ops.reshape(scores, (-1, choices)))",
            hint="These are probabilities, after a softmax over the choices. The loss applies it: return the scores."),
        mistake("mean-of-tokens", "hidden[:, 0]", "ops.mean(hidden, axis=1)",
            hint="You average over the tokens before the product. Use the vector of [CLS]."),
        mistake("not-folded", "return ops.reshape(scores, (-1, choices))", "return scores",
            hint="One score per sequence is right; now reshape, so that the {choices} scores of a question are in "
                 "one row."),
        mistake("cosine",
            "scores = ops.matmul(cls, v)", "scores = ops.matmul(cls, v) / (ops.norm(cls, axis=-1) * ops.norm(v))",
            hint="You divide by the lengths of the vectors. The score is the plain dot product."),
    ),
)  # fmt: skip
