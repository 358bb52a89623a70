"""Multi-head attention as a loop: lines 1-5 of MHAttention."""

import numpy as np

from autograde.exercises.draws import Random, normal, with_zeros
from autograde.exercises.n03_attention._shared import WHOLE_ATTENTION, head_parameters, shuffled
from autograde.exercises.n03_attention.attention import attention
from autograde.exercises.spec import Case, Exercise, Part, mistake, values


def multi_head(x, heads, w_o, b_o):
    return np.concatenate([attention(x, *parameters) for parameters in heads], axis=-1) @ w_o + b_o


def arguments_of_heads(rng: Random, d_x=6, d_attn=3, d_mid=4, d_out=5, heads=2, front=(), tokens=5) -> tuple:
    parameters = [head_parameters(rng, d_x, d_attn, d_mid) for _ in range(heads)]
    x = with_zeros(normal(rng, *front, tokens, d_x)) if tokens > 1 else normal(rng, *front, tokens, d_x)
    return x, parameters, normal(rng, heads * d_mid, d_out, size=0.5), normal(rng, d_out)


def inputs_of_heads(rng: Random) -> list[Case]:
    """Also one head, 25 (more than BERT has), a square matrix W_o, a single token, and up to three axes in front."""
    return [
        Case(arguments_of_heads(rng)),
        Case(arguments_of_heads(rng, d_x=4, d_mid=4, d_out=4, heads=3)),
        Case(arguments_of_heads(rng, d_mid=3, d_out=6, front=(2,))),
        Case(arguments_of_heads(rng, d_x=4, heads=1, front=(2, 3))),
        Case(arguments_of_heads(rng, heads=4, front=(1,))),
        Case(arguments_of_heads(rng, d_x=3, d_attn=2, d_mid=1, d_out=2, heads=25)),
        Case(arguments_of_heads(rng, d_x=3, d_attn=1, front=(2, 1, 2), tokens=1)),
    ]


def other_shapes(rng: Random) -> list[Case]:
    d_x, d_attn, d_mid, d_out, heads = (int(size) for size in rng.integers(1, 8, size=5))
    return [Case(arguments_of_heads(rng, d_x, d_attn, d_mid, d_out, heads, front)) for front in ((), (1,), (2, 1, 2))]


EXERCISE = Exercise(
    reference=multi_head,
    parts=(
        values(3, inputs_of_heads, hidden=other_shapes),
        Part("order of tokens", 1, shuffled(arguments_of_heads),
            "shuffling the tokens must shuffle the outputs and change nothing else"),
    ),
    forbidden=WHOLE_ATTENTION,
    hints=(
        "Lines 2–3: every head looks at the same x with its own parameters. Collect the results in a list.",
        "`attention(x, *parameters)` passes the six parameters of one head in order.",
        "After the loop: `concat_heads`, a product with w_o, and b_o for every row.",
    ),
    misconceptions=(
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
