"""One attention head: lines 1-6 of Attention."""

import numpy as np

from autograde.exercises.draws import Random, normal, with_zeros
from autograde.exercises.n03_attention._shared import WHOLE_ATTENTION, head_parameters, shuffled
from autograde.exercises.n03_attention.cross_attention import cross
from autograde.exercises.spec import Case, Exercise, Part, mistake, values

EXAMPLE_X = np.array([[1, 0, 1, 0], [0, 2, 0, 2], [1, 1, 1, 1]], "float32")
EXAMPLE_W_Q = np.array([[1, 0, 1], [1, 0, 0], [0, 0, 1], [0, 1, 1]], "float32")
EXAMPLE_W_K = np.array([[0, 0, 1], [1, 1, 0], [0, 1, 0], [1, 1, 0]], "float32")
EXAMPLE_W_V = np.array([[0, 2, 0], [0, 3, 0], [1, 0, 3], [1, 1, 0]], "float32")


def attention(x, *parameters):
    return cross(x, x, *parameters)


def inputs_of_attention(rng: Random) -> list[Case]:
    zero = np.zeros(3, "float32")
    return [
        Case((normal(rng, 4, 6), *head_parameters(rng, 6, 3, 5))),
        Case((with_zeros(normal(rng, 2, 5, 4)), *head_parameters(rng, 4, 4, 4))),
        Case((normal(rng, 2, 2, 3, 4), *head_parameters(rng, 4, 2, 3))),
        Case((normal(rng, 2, 1, 2, 2, 3), *head_parameters(rng, 3, 5, 1))),
        Case((normal(rng, 1, 5), *head_parameters(rng, 5, 1, 2))),  # one token
        Case((normal(rng, 600, 3), *head_parameters(rng, 3, 2, 2))),  # more tokens than BERT takes
        Case((30 * normal(rng, 1, 4, 5), *head_parameters(rng, 5, 3, 2))),  # large scores
        Case((EXAMPLE_X, EXAMPLE_W_Q, zero, EXAMPLE_W_K, zero, EXAMPLE_W_V, zero), note="the lecture's example"),
    ]


def other_shapes(rng: Random) -> list[Case]:
    tokens, d_x, d_attn, d_out = (int(size) for size in rng.integers(1, 10, size=4))
    fronts = ((), (1,), (3, 2))
    return [Case((normal(rng, *front, tokens, d_x), *head_parameters(rng, d_x, d_attn, d_out))) for front in fronts]


def arguments_of_attention(rng: Random) -> tuple:
    return normal(rng, 2, 6, 5), *head_parameters(rng, 5, 3, 4)


EXERCISE = Exercise(
    reference=attention,
    parts=(
        values(3, inputs_of_attention, hidden=other_shapes),
        Part("order of tokens", 1, shuffled(arguments_of_attention),
            "shuffling the tokens must shuffle the outputs and change nothing else"),
    ),
    forbidden=WHOLE_ATTENTION,
    hints=(
        "Write the lines in their order: Q, K, V, then S, then the last one. Each is one line of Python.",
        "Lines 2–4 have the same form: a matrix product, then the bias for every row.",
        "Line 6: the attention weights (tokens × tokens) on the left, the values (tokens × d_out) on the right.",
    ),
    misconceptions=(
        mistake("no-softmax", "softmax_rows(attention_scores(q, k))", "attention_scores(q, k)",
            hint="You multiply the values by raw scores. Line 6 applies a softmax to each row of scores first."),
        mistake("shares-per-key", "softmax_rows(attention_scores(q, k))",
            "ops.swapaxes(softmax_rows(ops.swapaxes(attention_scores(q, k), -1, -2)), -1, -2)",
            hint="Your weights sum to 1 down each column. The weights of each token must sum to 1: softmax along "
                 "the rows."),
        mistake("scaled-twice", "softmax_rows(attention_scores(q, k))",
            "softmax_rows(attention_scores(q, k) / ops.shape(k)[-1] ** 0.5)",
            hint="You divide the scores by √d_attn twice: your `attention_scores` has already done it."),
        mistake("unscaled", "attention_scores(q, k)", "ops.matmul(q, ops.swapaxes(k, -1, -2))",
            hint="You take the products of queries and keys as they are. Line 5 divides them by √d_attn: call your "
                 "`attention_scores`."),
        mistake("no-biases",
            "add_to_rows(ops.matmul(x, w_q), b_q)", "ops.matmul(x, w_q)",
            "add_to_rows(ops.matmul(x, w_k), b_k)", "ops.matmul(x, w_k)",
            "add_to_rows(ops.matmul(x, w_v), b_v)", "ops.matmul(x, w_v)",
            hint="The biases b_q, b_k and b_v are missing: lines 2–4 add one to every row."),
        mistake("no-value-bias", "add_to_rows(ops.matmul(x, w_v), b_v)", "ops.matmul(x, w_v)",
            hint="b_v is missing: line 4 adds it to every row, as lines 2 and 3 do with b_q and b_k."),
        mistake("value-bias-twice", "return ops.matmul(weights, v)", "return add_to_rows(ops.matmul(weights, v), b_v)",
            hint="b_v is added twice: to the values and again to the result. Line 4 adds it once; the weights of a row "
                 "sum to 1, so it reaches the result whole."),
        mistake("inputs-as-values", "ops.matmul(weights, v)", "ops.matmul(weights, x)",
            hint="You apply the weights to the inputs x. Apply them to the values: V = X W_v + b_v, line 4."),
        mistake("keys-as-values", "ops.matmul(weights, v)", "ops.matmul(weights, k)",
            hint="You apply the weights to the keys. Keys are only for finding tokens; the result comes from the "
                 "values, line 4."),
        mistake("keys-are-queries", "ops.matmul(x, w_k), b_k", "ops.matmul(x, w_q), b_q",
            hint="Queries and keys come from the same matrix. Then a token can only look for its own kind; keys "
                 "have W_k and b_k."),
        mistake("weights-returned", "return ops.matmul(weights, v)", "return weights",
            hint="These are the attention weights, tokens × tokens. Line 6 continues: multiply them with V."),
    ),
)  # fmt: skip
