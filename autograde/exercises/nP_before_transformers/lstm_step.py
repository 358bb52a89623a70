"""The next state and the next cell of an LSTM, with the gates in the order of Keras."""

import numpy as np

from autograde.exercises.nP_before_transformers._shared import READY_MADE_CELLS, sigmoid
from autograde.exercises.writing import (
    Case,
    Exercise,
    Part,
    Random,
    Slopes,
    Trial,
    composed,
    draws,
    mistake,
    normal,
    result_of,
    values,
)


def lstm_step(x, h, c, w, u, b):
    i, f, g, o = np.split(x @ w + h @ u + b, 4, axis=-1)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


INPUTS = draws(__name__, scale={"w": 0.8, "u": 0.8, "c": 1.5})


def gradients(rng: Random) -> list[Trial]:
    """Gradients of both outputs with respect to everything."""
    case = INPUTS.case(rng)
    directions = {index: normal(rng, *value.shape) for index, value in enumerate(case.arguments)}
    shape = case.arguments[1].shape
    return [Trial((case,), (Slopes(normal(rng, *shape), directions, item=item),)) for item in (0, 1)]


def two_words(rng: Random) -> list[Trial]:
    """Two steps, one on the other's state and cell; only hidden."""
    x, h, c, *weights = INPUTS.case(rng).arguments
    first = ("lstm-step", Case((x, h, c, *weights)))
    return [Trial((composed(first, ("lstm-step", Case((x + 1, result_of(0, 0), result_of(0, 1), *weights)))),))]


EXERCISE = Exercise(
    reference=lstm_step,
    returns="tuple",
    in_graph=True,
    parts=(
        values(3, INPUTS),
        Part("gradients", 1, gradients, "gradients must reach the word, the state, the cell and all weights, from both "
            "results", hidden=two_words),
    ),
    forbidden=READY_MADE_CELLS,
    hints=(
        "x W + h U + b is (batch, 4 · units). `ops.split(…, 4, axis=-1)` cuts it into i, f, g, o.",
        "Gates go through a sigmoid; the candidate g, and the cell where it is shown, go through tanh.",
        "The new state shows the *new* cell: compute c first, then h from it. Return h, then c.",
    ),
    misconceptions=(
        mistake("order-of-another-library", "i, f, g, o = ops.split", "i, f, o, g = ops.split",
            hint="You read the parts in the order i, f, o, g, as some papers do. In Keras's order the candidate g "
                 "comes before the output gate."),
        mistake("forget-gate-on-the-candidate", "ops.sigmoid(f) * c + ops.sigmoid(i) * ops.tanh(g)",
            "ops.sigmoid(i) * c + ops.sigmoid(f) * ops.tanh(g)",
            hint="You exchanged two gates: the forget gate f scales the old cell, the input gate i what is written."),
        mistake("candidate-through-a-sigmoid", "ops.tanh(g)", "ops.sigmoid(g)",
            hint="The candidate g goes through tanh, so that it can be negative. Only the three gates go through a "
                 "sigmoid."),
        mistake("candidate-as-it-is", "ops.tanh(g)", "g",
            hint="The candidate g has no limit in yours, so the cell can grow by any number in one step."),
        mistake("cell-shown-as-it-is", "ops.sigmoid(o) * ops.tanh(c)", "ops.sigmoid(o) * c",
            hint="The cell can become large; the state shows tanh of it."),
        mistake("old-cell-shown",
            "    c = ops.sigmoid(f) * c + ops.sigmoid(i) * ops.tanh(g)\n    h = ops.sigmoid(o) * ops.tanh(c)\n",
            "    h = ops.sigmoid(o) * ops.tanh(c)\n    c = ops.sigmoid(f) * c + ops.sigmoid(i) * ops.tanh(g)\n",
            hint="Your state shows the old cell. Compute the new cell first, then the state from it."),
        mistake("state-kept-instead-of-the-cell", "ops.sigmoid(f) * c +", "ops.sigmoid(f) * h +",
            hint="You keep a part of the state h. The forget gate scales the cell c, which nothing else changes."),
        mistake("cell-first", "return h, c", "return c, h",
            hint="You return the cell first. The state comes first, then the cell."),
        mistake("forget-bias-added", "ops.sigmoid(f)", "ops.sigmoid(f + 1)",
            hint="You add 1 to the forget gate at each step. The 1 is only how its bias *begins* before training; "
                 "here it is in b already, if it should be."),
        mistake("forgets-what-it-writes", "ops.sigmoid(i) * ops.tanh(g)", "(1 - ops.sigmoid(f)) * ops.tanh(g)",
            hint="You write with 1 − forget gate, as a GRU does. An LSTM has an input gate of its own, i."),
    ),
)  # fmt: skip
