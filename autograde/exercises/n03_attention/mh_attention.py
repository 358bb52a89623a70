"""Multi-head attention as a loop: lines 1-5 of MHAttention."""

import numpy as np

from autograde.exercises.n03_attention._shared import WHOLE_ATTENTION, head_parameters, shuffled
from autograde.exercises.n03_attention.attention import attention
from autograde.exercises.writing import Exercise, Part, draws, mistake, sized, values

INPUTS = draws(
    __name__,
    sized(front=(2,), zeros="x"),
    sized(heads=25, d_mid=1),  # more heads than BERT has
    heads=lambda rng, sizes: [head_parameters(rng, sizes["d_x"], 3, sizes["d_mid"]) for _ in range(sizes["heads"])],
    scale={"w_o": 0.5},
)


def multi_head(x, heads, w_o, b_o):
    return np.concatenate([attention(x, *parameters) for parameters in heads], axis=-1) @ w_o + b_o


EXERCISE = Exercise(
    reference=multi_head,
    parts=(
        values(3, INPUTS),
        Part("order of tokens", 1, shuffled(INPUTS),
            "shuffling the tokens must shuffle the outputs and change nothing else"),
    ),
    forbidden=WHOLE_ATTENTION,
    hints=(
        "Lines 2–3: every head looks at the same x with its own parameters. Collect the results in a list.",
        "`attention(x, *parameters)` passes the six parameters of one head in order.",
        "After the loop: `concat_heads`, a product with w_o, and b_o for every row.",
    ),
    misconceptions=(
        mistake("heads-backwards", "concat_heads(found)", "concat_heads(found[::-1])",
            hint="Your heads are side by side from the last to the first. The rows of W_o are in the heads' own "
                 "order."),
        mistake("no-output-projection", "return add_to_rows(ops.matmul(y, w_o), b_o)", "return y",
            hint="This is Y, the heads side by side. Line 5 mixes them: Y W_o + b_o."),
        mistake("no-output-bias", "add_to_rows(ops.matmul(y, w_o), b_o)", "ops.matmul(y, w_o)",
            hint="b_o is missing: line 5 adds it to every row."),
        mistake("output-bias-of-each-head", "ops.matmul(y, w_o), b_o)", "ops.matmul(y, w_o), b_o * len(heads))",
            hint="b_o is added once for every head. Line 5 adds it once, after the heads are mixed."),
        mistake("always-the-first-head", "attention(x, *parameters)", "attention(x, *heads[0])",
            hint="Every head uses the first head's parameters, so all results are the same. Use those of the loop."),
        mistake("heads-in-a-chain", "        found.append(attention(x, *parameters))",
            "        x = attention(x, *parameters)\n        found.append(x)",
            hint="Each head reads the result of the one before it. Heads work in parallel: all look at the same X."),
        mistake("heads-added", "concat_heads(found)", "sum(found)",
            hint="You add the heads before the output projection. W_o has H · d_mid rows: it expects them side by "
                 "side."),
    ),
)  # fmt: skip
