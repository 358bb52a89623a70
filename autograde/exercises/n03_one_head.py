"""Notebook 03, exercises 3.1 to 3.5: one head, step by step."""

import numpy as np

from autograde.exercises import n03_draws as draws
from autograde.exercises.n03_common import BUILD_IT, HEAD_ARGUMENTS, NOTEBOOK, WHOLE_ATTENTION
from autograde.exercises.spec import Exercise, Misconception, Part, cases, function, values

CONCAT_HEADS = Exercise(
    id="concat-heads",
    notebook=NOTEBOOK,
    kept_in="attention",
    number="3.1",
    title="Side by side",
    minutes=3,
    lines="MHAttention, line 4",
    names=("concat_heads",),
    arguments=("heads",),
    probe=function("concat_heads"),
    reference=lambda heads: np.concatenate(heads, axis=-1),
    parts=(
        values(1, draws.two_matrices),
        cases(
            "axes in front", 1, draws.batches_of_heads, "with a batch in front of the matrices the result is another"
        ),
    ),
    hints=(
        "Look at the lecture's example: how many rows go in, how many come out?",
        "The row of token t is: its row in Y¹, then its row in Y², and so on. Rows get longer, none are added.",
        (
            "`ops.concatenate` joins along any axis. Which axis is it that grows? Count from the end, so that a "
            "batch in front does not matter."
        ),
    ),
    misconceptions=(
        Misconception(
            "rows-below-rows",
            ("You put the matrices one below the other. Here every token keeps its one row, and the row gets longer."),
            (("axis=-1", "axis=-2"),),
        ),
        Misconception(
            "heads-added",
            "You added the heads up. Adding mixes what they found; side by side, each keeps columns of its own.",
            (("ops.concatenate(heads, axis=-1)", "sum(heads)"),),
        ),
        Misconception(
            "new-axis",
            "Stacking makes a new axis for the heads. No axis is new in [Y¹; Y²]: the last one gets longer.",
            (("ops.concatenate(heads, axis=-1)", "ops.stack(heads, axis=0)"),),
        ),
        Misconception(
            "columns-interleaved",
            "The columns of the heads alternate in your result. First all columns of Y¹, then all of Y².",
            (("ops.concatenate(heads, axis=-1)", "ops.reshape(ops.stack(heads, -1), (*heads[0].shape[:-1], -1))"),),
        ),
    ),
)

ADD_TO_ROWS = Exercise(
    id="add-to-rows",
    notebook=NOTEBOOK,
    kept_in="attention",
    number="3.2",
    title="The same vector to every row",
    minutes=3,
    lines="Attention, lines 2–4",
    names=("add_to_rows",),
    arguments=("x", "b"),
    probe=function("add_to_rows"),
    reference=lambda x, b: x + np.ones(x.shape[:-1])[..., None] * b,
    parts=(
        values(1, draws.rows_and_vectors),
        cases(
            "axes in front", 1, draws.batches_and_vectors, "with a batch in front of the matrix the result is another"
        ),
    ),
    hints=(
        "b has one number per column. Every row gets the whole of b.",
        "Sizes are lined up from the right: (m, n) with (n,) fits as it stands.",
        "There is nothing to repeat by hand: the plus sign broadcasts.",
    ),
    misconceptions=(
        Misconception(
            "added-to-columns",
            "You turned b upright, so it goes to every column. A row of x has as many numbers as b: let b lie.",
            (("x + b", "x + ops.expand_dims(b, -1)"),),
        ),
        Misconception(
            "appended",
            "You appended b to x as one more row. Here b is added, number by number, to each row that is there.",
            (("x + b", "ops.concatenate([x, ops.expand_dims(b, 0)], axis=0)"),),
        ),
        Misconception(
            "multiplied",
            "You multiplied by b. That is a scale (γ in LayerNorm, notebook 04); a bias is added.",
            (("x + b", "x * b"),),
        ),
    ),
)

SOFTMAX_ROWS = Exercise(
    id="softmax-rows",
    notebook=NOTEBOOK,
    kept_in="attention",
    number="3.3",
    title="Shares: softmax of each row",
    minutes=8,
    lines="Attention, line 6",
    names=("softmax_rows",),
    arguments=("a",),
    probe=function("softmax_rows"),
    reference=draws.softmax,
    parts=(
        values(1, draws.usual_rows),
        Part("large scores", 1, draws.large_scores, "scores of 100 to 1000 do not give shares that sum to 1"),
        Part("rows far apart", 1, draws.rows_far_apart, "a row far below the others does not give its own shares"),
    ),
    forbidden=(
        "keras.ops.softmax",
        "keras.ops.log_softmax",
        "keras.activations.softmax",
        "keras.layers.Softmax",
        "tensorflow.nn.softmax",
        "scipy.special.softmax",
    ),
    forbidden_because="This exercise is about writing softmax yourself; afterwards you may use either.",
    hints=(
        "Three steps: shift each row so that its largest score is 0, take exp, divide by each row's sum.",
        "Both the largest score and the sum are one number per row: `axis=-1`.",
        "To divide a (m, n) matrix by one number per row, these must keep shape (m, 1): `keepdims=True`.",
    ),
    misconceptions=(
        Misconception(
            "columns",
            (
                "Your columns sum to 1, not your rows. A row holds what one token asks of all: the axis to sum over "
                "is the last."
            ),
            (("ops.max(a, axis=-1,", "ops.max(a, axis=-2,"), ("ops.sum(powers, axis=-1,", "ops.sum(powers, axis=-2,")),
        ),
        Misconception(
            "whole-matrix",
            "The whole matrix sums to 1. Each row has to: every token divides its own attention.",
            (
                ("ops.max(a, axis=-1, keepdims=True)", "ops.max(a)"),
                ("ops.sum(powers, axis=-1, keepdims=True)", "ops.sum(powers)"),
            ),
        ),
        Misconception(
            "unstable",
            (
                "Right for small scores. For large ones exp overflows: ∞/∞ is NaN. Shift each row first, so that "
                "its largest score is 0."
            ),
            (("a - ops.max(a, axis=-1, keepdims=True)", "a"),),
        ),
        Misconception(
            "one-maximum-for-all",
            (
                "You shift by the largest score of the whole matrix. A row far below it becomes exp(very negative) "
                "= 0 everywhere, and 0/0 is NaN. Shift each row by its own largest score."
            ),
            (("ops.max(a, axis=-1, keepdims=True)", "ops.max(a)"),),
        ),
        Misconception(
            "sum-lost-its-axis",
            (
                "The sums have shape (m,) and are lined up with the columns: row i is divided by the sums of all "
                "rows in turn. `keepdims=True` keeps them upright."
            ),
            (("ops.sum(powers, axis=-1, keepdims=True)", "ops.sum(powers, axis=-1)"),),
        ),
        Misconception(
            "no-exp",
            "You divide the scores themselves by their sum. Scores may be negative; exp makes them positive first.",
            (("a - ops.max(a, axis=-1, keepdims=True)", "a"), ("ops.exp(shifted)", "shifted")),
        ),
    ),
)

SCORES = Exercise(
    id="scores",
    notebook=NOTEBOOK,
    kept_in="attention",
    number="3.4",
    title="Scores",
    minutes=8,
    lines="Attention, line 5",
    names=("attention_scores",),
    arguments=("q", "k"),
    probe=function("attention_scores"),
    reference=draws.scores,
    parts=(
        values(2, draws.queries_and_keys),
        Part(
            "each query on its own",
            1,
            draws.each_query_alone,
            "a query's row must not depend on the other queries, nor on there being as many keys as queries",
        ),
    ),
    forbidden=WHOLE_ATTENTION,
    forbidden_because=BUILD_IT,
    facts=lambda case: {
        "d": case.arguments[0].shape[-1],
        "root": f"{case.arguments[0].shape[-1] ** 0.5:g}",
        "tokens": case.arguments[0].shape[-2],
    },
    hints=(
        "A dot product of two rows is a sum over their d_attn numbers. Which axis disappears, which two remain?",
        (
            "A matrix product sums over the last axis of the left and the next-to-last of the right: turn the keys "
            "in these two axes."
        ),
        (
            "`ops.swapaxes(k, -1, -2)` turns every matrix of a batch. Then divide by the square root of the size of "
            "the last axis of q."
        ),
    ),
    misconceptions=(
        Misconception(
            "unscaled",
            "This is what you get before dividing by √d_attn (√{d} = {root}). Look at line 5 again.",
            (("products / d_attn**0.5", "products"),),
        ),
        Misconception(
            "divided-by-d",
            (
                "You divided by d_attn = {d} itself; line 5 has its square root, {root}. The variance of a sum of "
                "{d} products is {d}, its typical size √{d}."
            ),
            (("d_attn**0.5", "d_attn"),),
        ),
        Misconception(
            "divided-by-length",
            (
                "You divided by the root of the number of tokens, √{tokens}. The sum runs over the d_attn = {d} "
                "numbers of a vector, so their number counts."
            ),
            (("d_attn = q.shape[-1]", "d_attn = q.shape[-2]"),),
        ),
        Misconception(
            "multiplied-by-root",
            "You multiplied by √{d}. Scaling is to make the scores smaller: divide.",
            (("products / d_attn", "products * d_attn"),),
        ),
        Misconception(
            "not-turned",
            "You want tokens × tokens: one of the two must be turned, only in its last two axes.",
            (("ops.swapaxes(k, -1, -2)", "k"),),
        ),
        Misconception(
            "keys-ask-queries",
            "Your matrix is turned: row t holds what all tokens ask of token t. Queries go left, keys right: Q Kᵀ.",
            (("ops.matmul(q, ops.swapaxes(k, -1, -2))", "ops.matmul(k, ops.swapaxes(q, -1, -2))"),),
        ),
    ),
)

ATTENTION = Exercise(
    id="attention",
    notebook=NOTEBOOK,
    kept_in="attention",
    number="3.5",
    title="Attention, all six lines",
    minutes=7,
    lines="Attention, lines 1–6",
    names=("attention",),
    arguments=("x", *HEAD_ARGUMENTS),
    probe=function("attention"),
    reference=draws.attention,
    parts=(
        values(3, draws.inputs_of_attention),
        Part(
            "order of tokens",
            1,
            draws.shuffled(draws.arguments_of_attention),
            "shuffling the tokens must shuffle the outputs and change nothing else",
        ),
    ),
    forbidden=WHOLE_ATTENTION,
    forbidden_because=BUILD_IT,
    hints=(
        "Write the lines in their order: Q, K, V, then S, then the last one. Each is one line of Python.",
        "Lines 2–4 are alike: a matrix product, then the bias to every row.",
        "Line 6: the shares (tokens × tokens) on the left, the values (tokens × d_out) on the right.",
    ),
    misconceptions=(
        Misconception(
            "no-softmax",
            "You multiply the values by raw scores. Line 6 turns the scores of each row into shares first.",
            (("softmax_rows(attention_scores(q, k))", "attention_scores(q, k)"),),
        ),
        Misconception(
            "shares-per-key",
            ("Your shares sum to 1 down each column. Each token divides *its own* attention: softmax along the rows."),
            (
                (
                    "softmax_rows(attention_scores(q, k))",
                    "ops.swapaxes(softmax_rows(ops.swapaxes(attention_scores(q, k), -1, -2)), -1, -2)",
                ),
            ),
        ),
        Misconception(
            "no-biases",
            "The biases b_q, b_k and b_v are missing: lines 2–4 add one to every row.",
            (
                ("add_to_rows(ops.matmul(x, w_q), b_q)", "ops.matmul(x, w_q)"),
                ("add_to_rows(ops.matmul(x, w_k), b_k)", "ops.matmul(x, w_k)"),
                ("add_to_rows(ops.matmul(x, w_v), b_v)", "ops.matmul(x, w_v)"),
            ),
        ),
        Misconception(
            "inputs-as-values",
            "The shares weigh the inputs x. What a token gives is its value: V = X W_v + b_v, line 4.",
            (("ops.matmul(weights, v)", "ops.matmul(weights, x)"),),
        ),
        Misconception(
            "keys-as-values",
            "The shares weigh the keys. A key is what a token is found by; what it gives is its value, line 4.",
            (("ops.matmul(weights, v)", "ops.matmul(weights, k)"),),
        ),
        Misconception(
            "keys-are-queries",
            (
                "Queries and keys come from the same matrix. Then a token always asks for what it is itself; keys "
                "have W_k and b_k."
            ),
            (("ops.matmul(x, w_k), b_k", "ops.matmul(x, w_q), b_q"),),
        ),
        Misconception(
            "weights-returned",
            "These are the shares themselves, tokens × tokens. Line 6 goes on: multiply them with V.",
            (("return ops.matmul(weights, v)", "return weights"),),
        ),
    ),
)
