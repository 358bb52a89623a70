"""One attention head: lines 1-6 of Attention."""

from autograde.exercises.n03_attention._shared import WHOLE_ATTENTION, shuffled
from autograde.exercises.n03_attention.cross_attention import cross
from autograde.exercises.writing import Case, Exercise, Part, draws, mistake, sized, values

X, ZERO = [[1, 0, 1, 0], [0, 2, 0, 2], [1, 1, 1, 1]], [0, 0, 0]
W_Q, W_K = [[1, 0, 1], [1, 0, 0], [0, 0, 1], [0, 1, 1]], [[0, 0, 1], [1, 1, 0], [0, 1, 0], [1, 1, 0]]
W_V = [[0, 2, 0], [0, 3, 0], [1, 0, 3], [1, 1, 0]]
INPUTS = draws(
    __name__,
    Case((X, W_Q, ZERO, W_K, ZERO, W_V, ZERO), note="the lecture's example"),
    sized(front=(2,), zeros="x"),
    sized(tokens=600),  # more tokens than BERT takes
    sized(scale={"x": 30}),  # large scores
    scale={"w_q": 0.7, "w_k": 0.7},
)


def attention(x, *parameters):
    return cross(x, x, *parameters)


EXERCISE = Exercise(
    reference=attention,
    parts=(
        values(3, INPUTS),
        Part("order of tokens", 1, shuffled(INPUTS),
            "shuffling the tokens must shuffle the outputs and change nothing else"),
    ),
    forbidden=WHOLE_ATTENTION,
    hints=(
        "Write the lines in their order: Q, K, V, then S, then the last one. Each is one line of Python.",
        "Lines 2–4 have the same form: a matrix product, then the bias for every row.",
        "Line 6: the attention weights (tokens × tokens) on the left, the values (tokens × d_out) on the right.",
    ),
    misconceptions=(
        mistake("no-query-bias", "add_to_rows(ops.matmul(x, w_q), b_q)", "ops.matmul(x, w_q)",
            hint="b_q is missing: line 2 adds it to every row of the queries."),
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
