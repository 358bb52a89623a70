"""The next state of a recurrent network."""

import numpy as np

from autograde.exercises.nP_before_transformers._shared import READY_MADE_CELLS
from autograde.exercises.writing import Case, Exercise, Part, Random, Trial, composed, draws, mistake, result_of, values


def rnn_step(x, h, w, u, b):
    return np.tanh(x @ w + h @ u + b)


BY_HAND = Case(([[1, 2]], [[0.5]], [[0.1], [0.2]], [[-1]], [0.25]), note="one word, one unit")
INPUTS = draws(__name__, BY_HAND, scale={"w": 0.6, "u": 0.6})


def two_words(rng: Random) -> list[Trial]:
    """Two steps, one on the other's state; only hidden."""
    x, h, *weights = INPUTS.case(rng).arguments
    return [
        Trial((composed(("rnn-step", Case((x, h, *weights))), ("rnn-step", Case((x + 1, result_of(0), *weights)))),))
    ]


EXERCISE = Exercise(
    reference=rnn_step,
    in_graph=True,
    parts=(
        values(1.5, INPUTS),
        Part("gradients", 0.5, INPUTS.gradients, "gradients must reach the word, the state and all weights",
            hidden=two_words),
    ),
    forbidden=READY_MADE_CELLS,
    hints=(
        "Two products, a bias, and tanh around all of it.",
        "x (batch, d) fits w (d, units), h (batch, units) fits u (units, units): both products are (batch, units).",
    ),
    misconceptions=(
        mistake("state-not-read", " + ops.matmul(h, u)", "",
            hint="The old state is not in your sum: this reader forgets every word at once. Add h U."),
        mistake("tanh-before-the-sum", "ops.tanh(ops.matmul(x, w) + ops.matmul(h, u) + b)",
            "ops.tanh(ops.matmul(x, w)) + ops.matmul(h, u) + b",
            hint="Your tanh is around x W alone. It belongs around the whole sum, else the state can grow without "
                 "limit."),
        mistake("no-tanh", "ops.tanh(ops.matmul(x, w) + ops.matmul(h, u) + b)",
            "ops.matmul(x, w) + ops.matmul(h, u) + b",
            hint="tanh is missing: without it all steps together are one linear map."),
        mistake("bias-outside", "ops.matmul(h, u) + b)", "ops.matmul(h, u)) + b",
            hint="You add the bias after tanh. It belongs into the sum."),
        mistake("bias-forgotten", " + b)", ")", hint="The bias b is missing in your sum."),
        mistake("old-state-added", "return ops.tanh(", "return h + ops.tanh(",
            hint="You add the step to the old state, as a residual connection would. An RNN of this kind writes a "
                 "new state."),
        mistake("matrix-turned", "ops.matmul(h, u)", "ops.matmul(h, ops.transpose(u))",
            hint="You use the transpose of U, as with columns (U h). With states as rows it is h U."),
    ),
)  # fmt: skip
