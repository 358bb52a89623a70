"""Notebook 03, attention, second half: masks, many heads, two sequences."""

from autograde.exercises import n03_draws as draws
from autograde.exercises.n03_attention import (
    BUILD_IT, HEAD_ARGUMENTS, WHOLE_ATTENTION, ADD_TO_ROWS, ATTENTION, CONCAT_HEADS, NOTEBOOK, SCORES,
    SOFTMAX_ROWS,
)  # fmt: skip
from autograde.exercises.spec import Exercise, Misconception, Part, cases, function, layer, values

# Where a layer keeps its weights: one Dense per projection, or a list of them with one per head.
ROLES = {
    f"{name}/{part}": [f"{name}.{part}", f"{name}.*.{part}"]
    for name in ("query", "key", "value", "out")
    for part in ("kernel", "bias")
}

PADDING_MASK = Exercise(
    id="padding-mask",
    notebook=NOTEBOOK,
    number="3.6",
    title="Padding",
    minutes=5,
    lines="",
    names=("padding_mask",),
    arguments=("is_real",),
    probe=function("padding_mask"),
    reference=lambda is_real: (is_real == 1)[:, None, :],
    dtype="bool",
    parts=(
        values(1, draws.ones_and_zeros),
        cases("nothing to hide", 1, draws.nothing_padded, "without padding every key may be seen"),
    ),
    hints=(
        "Compare with 1 to get booleans, then make room for the axis of queries.",
        "The mask is (batch, queries, keys). Padding hides keys, whoever asks: which axis has size 1?",
        "`ops.expand_dims(..., axis=1)` puts the new axis between the other two.",
    ),
    misconceptions=(
        Misconception(
            "inverted",
            "True marks the padding in your mask. True is to mean: may be seen.",
            (("ops.equal(is_real, 1)", "ops.equal(is_real, 0)"),),
        ),
        Misconception(
            "queries-hidden",
            "Your new axis stands last: this hides what a [PAD] asks, not the [PAD] itself. Keys are the last axis.",
            (("axis=1", "axis=2"),),
        ),
        Misconception(
            "pairs",
            "You also hide everything from the padding's own queries. Then their rows see nothing at all; what they compute is never "
            "used, so one row per sentence, (batch, 1, tokens), is enough.",
            (("return ops.expand_dims(may_be_seen, axis=1)",
              "return ops.logical_and(ops.expand_dims(may_be_seen, 1), ops.expand_dims(may_be_seen, 2))"),),
        ),
        Misconception(
            "no-axis-for-queries",
            "(batch, tokens) would be lined up with (queries, keys) of the scores. Make room for the queries: (batch, 1, tokens).",
            (("ops.expand_dims(may_be_seen, axis=1)", "may_be_seen"),),
        ),
    ),
)  # fmt: skip

CAUSAL_MASK = Exercise(
    id="causal-mask",
    notebook=NOTEBOOK,
    number="3.7",
    title="No looking ahead",
    minutes=5,
    lines="",
    names=("causal_mask",),
    arguments=("tokens",),
    probe=function("causal_mask"),
    reference=draws.lower_triangle,
    dtype="bool",
    parts=(
        values(1, draws.some_lengths),
        cases("a single token", 1, draws.one_token, "a sequence of one token sees that token"),
    ),
    hints=(
        "Write down the mask of 3 tokens by hand: 9 cells, row i, column j.",
        "[i, j] is True where j ≤ i: at and below the diagonal.",
        "`ops.arange(tokens)` as a column and as a row, compared, gives the whole matrix.",
    ),
    misconceptions=(
        Misconception(
            "diagonal-hidden",
            "You hide the diagonal too, as two of the lectures do. Then the first token sees nothing: its shares are 0/0. A token may "
            "see itself: j ≤ i.",
            (("j <= i", "j < i"),),
        ),
        Misconception(
            "backwards",
            "Your mask shows the future and hides the past: row i may see j ≥ i. Rows ask, columns answer.",
            (("j <= i", "j >= i"),),
        ),
        Misconception(
            "true-hides",
            "True marks what is hidden in your mask. True is to mean: may be seen.",
            (("j <= i", "j > i"),),
        ),
        Misconception(
            "nobody-hidden",
            "Everybody sees everybody in your mask. That is BERT's, not the causal one: [i, j] depends on i and j.",
            (("j <= i", "ops.logical_and(j >= 0, i >= 0)"),),
        ),
    ),
)

MASKED_ATTENTION = Exercise(
    id="masked-attention",
    notebook=NOTEBOOK,
    number="3.8",
    title="Attention that respects a mask",
    minutes=10,
    lines="Attention, lines 5–6",
    names=("masked_attention",),
    arguments=("q", "k", "v", "mask"),
    probe=function("masked_attention"),
    reference=draws.masked,
    parts=(
        values(2, draws.masked_inputs),
        Part("padding changes nothing", 1, draws.padding_changes_nothing,
             "hidden filling behind a sentence must not change its result, whatever stands in it"),
        Part("nobody looks ahead", 1, draws.no_looking_ahead,
             "under the causal mask early tokens must give what they give without the later ones"),
    ),
    forbidden=WHOLE_ATTENTION,
    forbidden_because=BUILD_IT,
    hints=(
        "Three lines: scores, hide, shares of the values. The mask acts on the scores, before softmax.",
        "`ops.where(condition, a, b)` takes from a where the condition is True, else from b.",
        "Where the mask is True the score stays; elsewhere it becomes HIDDEN.",
    ),
    misconceptions=(
        Misconception(
            "after-softmax",
            "You hide after the softmax, so the rows no longer sum to 1: what the hidden keys had taken is lost. Hide the scores instead.",
            (("    scores = ops.where(mask, scores, HIDDEN)\n", ""),
             ("softmax_rows(scores)", "ops.where(mask, softmax_rows(scores), 0.0)")),
        ),
        Misconception(
            "score-zero",
            "A score of 0 is an ordinary score: exp(0) = 1, so hidden keys still get a share. Hiding needs (nearly) −∞.",
            (("ops.where(mask, scores, HIDDEN)", "ops.where(mask, scores, 0.0)"),),
        ),
        Misconception(
            "inverted",
            "You hide exactly what may be seen. True means: may be seen.",
            (("ops.where(mask, scores, HIDDEN)", "ops.where(mask, HIDDEN, scores)"),),
        ),
        Misconception(
            "mask-ignored",
            "The mask has no effect on your result. It belongs between scores and softmax.",
            (("    scores = ops.where(mask, scores, HIDDEN)\n", ""),),
        ),
        Misconception(
            "mask-added",
            "You add the mask as 0 and 1: what may be seen gets a little more, and nothing is hidden. Add 0 and −10⁹, or use `ops.where`.",
            (("ops.where(mask, scores, HIDDEN)", "scores + ops.cast(mask, scores.dtype)"),),
        ),
    ),
)  # fmt: skip

MH_ATTENTION = Exercise(
    id="mh-attention",
    notebook=NOTEBOOK,
    number="3.9",
    title="A loop over heads",
    minutes=8,
    lines="MHAttention, lines 1–5",
    names=("mh_attention",),
    arguments=("x", "heads", "w_o", "b_o"),
    probe=function("mh_attention"),
    reference=draws.multi_head,
    parts=(
        values(3, draws.inputs_of_heads),
        Part("order of tokens", 1, draws.shuffled(draws.arguments_of_heads),
             "shuffling the tokens must shuffle the outputs and change nothing else"),
    ),
    forbidden=WHOLE_ATTENTION,
    forbidden_because=BUILD_IT,
    hints=(
        "Lines 2–3: every head looks at the same x with parameters of its own. Collect what they find in a list.",
        "`attention(x, *parameters)` hands the six parameters of one head over in order.",
        "After the loop: `concat_heads`, a product with w_o, and b_o to every row.",
    ),
    misconceptions=(
        Misconception(
            "no-output-projection",
            "This is Y, the heads side by side. Line 5 mixes them: Y W_o + b_o.",
            (("return add_to_rows(ops.matmul(y, w_o), b_o)", "return y"),),
        ),
        Misconception(
            "no-output-bias",
            "b_o is missing: line 5 adds it to every row.",
            (("add_to_rows(ops.matmul(y, w_o), b_o)", "ops.matmul(y, w_o)"),),
        ),
        Misconception(
            "always-the-first-head",
            "Every head uses the first head's parameters, so all find the same. Take those of the loop.",
            (("attention(x, *parameters)", "attention(x, *heads[0])"),),
        ),
        Misconception(
            "heads-in-a-chain",
            "Each head reads what the one before it found. Heads work in parallel: all look at the same X.",
            (("        found.append(attention(x, *parameters))", "        x = attention(x, *parameters)\n        found.append(x)"),),
        ),
        Misconception(
            "heads-added",
            "You add the heads up before the output projection. W_o has H · d_mid rows: it wants them side by side.",
            (("concat_heads(found)", "sum(found)"),),
        ),
    ),
)  # fmt: skip

MULTI_HEAD_LAYER = Exercise(
    id="multi-head-layer",
    notebook=NOTEBOOK,
    number="3.10",
    title="All heads at once: a Keras layer",
    minutes=20,
    lines="MHAttention, lines 1–5",
    names=("MultiHeadAttention",),
    arguments=("x",),
    probe=layer("MultiHeadAttention", ROLES),
    reference=draws.multi_head_layer,
    parts=(
        values(3, draws.inputs_of_layer),
        cases("mask", 2, draws.masked_layer, "with a mask the result is another"),
        Part("each sentence on its own", 1, draws.batch_of_one, "a sentence must give the same alone as in a batch"),
    ),
    forbidden=WHOLE_ATTENTION,
    forbidden_because=BUILD_IT,
    facts=lambda case: {"hidden": case.arguments[0].shape[-1], "heads": case.config["num_heads"],
                        "d": case.arguments[0].shape[-1] // case.config["num_heads"]},
    hints=(
        "Print the shape after every step and hold it against the chain above the stub.",
        "split_heads: reshape to (batch, tokens, heads, d), then exchange the axes 1 and 2. Going back: exchange first, then reshape.",
        "The mask is (batch, 1 or tokens, tokens), the scores are (batch, heads, tokens, tokens): one `ops.expand_dims` lines them up.",
    ),
    misconceptions=(
        Misconception(
            "scaled-by-hidden-size",
            "You divide by √{hidden}, the root of the hidden size. A head's vectors have {d} numbers, so it is √{d}.",
            (("attention_scores(q, k)", "ops.matmul(q, ops.swapaxes(k, -1, -2)) / ops.shape(x)[-1] ** 0.5"),),
        ),
        Misconception(
            "split-without-transpose",
            "Reshaping straight to (batch, heads, tokens, d) cuts the sentence, not the vectors: a head gets pieces of several tokens. "
            "First (batch, tokens, heads, d), then exchange two axes.",
            (("(batch, tokens, self.num_heads, hidden // self.num_heads)", "(batch, self.num_heads, tokens, hidden // self.num_heads)"),
             ("return ops.transpose(x, (0, 2, 1, 3))", "return x")),
        ),
        Misconception(
            "merged-without-transpose",
            "You join the heads without exchanging the axes back: rows then mix several tokens. Transpose to (batch, tokens, heads, d) first.",
            (("ops.reshape(ops.transpose(found, (0, 2, 1, 3)), ops.shape(x))", "ops.reshape(found, ops.shape(x))"),),
        ),
        Misconception(
            "no-output-projection",
            "The heads stand side by side, but nobody mixes them: the last step is self.out.",
            (("return self.out(side_by_side)", "return side_by_side"),),
        ),
        Misconception(
            "one-large-head",
            "There is one head as wide as the hidden size. `num_heads` = {heads} heads have {d} numbers each, and each has its own softmax.",
            (("(batch, tokens, self.num_heads, hidden // self.num_heads)", "(batch, tokens, 1, hidden)"),),
        ),
        Misconception(
            "mask-inverted",
            "With a mask you hide exactly what may be seen. True means: may be seen.",
            (("ops.where(ops.expand_dims(attention_mask, axis=1), scores, HIDDEN)", "ops.where(ops.expand_dims(attention_mask, axis=1), HIDDEN, scores)"),),
        ),
        Misconception(
            "mask-ignored",
            "The mask has no effect. It belongs between scores and softmax, as in 3.8.",
            (("if attention_mask is not None:", "if False:"),),
        ),
        Misconception(
            "queries-everywhere",
            "Keys and values come from self.query as well. Each has a projection of its own.",
            (("self.split_heads(self.key(x)), self.split_heads(self.value(x))", "self.split_heads(self.query(x)), self.split_heads(self.query(x))"),),
        ),
    ),
)  # fmt: skip

CROSS_ATTENTION = Exercise(
    id="cross-attention",
    notebook=NOTEBOOK,
    number="3.11",
    title="Cross-attention",
    minutes=6,
    lines="Attention, lines 1–6, with two sequences",
    names=("cross_attention",),
    arguments=("z", "h", *HEAD_ARGUMENTS),
    probe=function("cross_attention"),
    reference=draws.cross,
    parts=(
        values(2, draws.two_sequences),
        Part("the other sequence is a set", 1, draws.order_of_the_other,
             "the order of the other sequence's tokens must not matter"),
    ),
    forbidden=WHOLE_ATTENTION,
    forbidden_because=BUILD_IT,
    hints=(
        "Start from your `attention`. Which of Q, K and V come from whom?",
        "The result has one row per token of z: z asks.",
        "Keys and values describe the same tokens, so they come from the same sequence, h.",
    ),
    misconceptions=(
        Misconception(
            "roles-exchanged",
            "Your h asks and your z answers. The output has a row per token of z: queries from z, keys and values from h.",
            (("ops.matmul(z, w_q)", "ops.matmul(h, w_q)"), ("ops.matmul(h, w_k)", "ops.matmul(z, w_k)"),
             ("ops.matmul(h, w_v)", "ops.matmul(z, w_v)")),
        ),
        Misconception(
            "values-of-the-asker",
            "Your values come from z: whoever is found must also give. Keys and values both come from h.",
            (("ops.matmul(h, w_v)", "ops.matmul(z, w_v)"),),
        ),
        Misconception(
            "keys-of-the-asker",
            "Your keys come from z, so z is held against itself. Keys and values both come from h.",
            (("ops.matmul(h, w_k)", "ops.matmul(z, w_k)"),),
        ),
        Misconception(
            "other-never-read",
            "h is never used: this is self-attention of z. Keys and values come from h.",
            (("ops.matmul(h, w_k)", "ops.matmul(z, w_k)"), ("ops.matmul(h, w_v)", "ops.matmul(z, w_v)")),
        ),
    ),
)  # fmt: skip

EXERCISES = (
    CONCAT_HEADS, ADD_TO_ROWS, SOFTMAX_ROWS, SCORES, ATTENTION, PADDING_MASK, CAUSAL_MASK, MASKED_ATTENTION,
    MH_ATTENTION, MULTI_HEAD_LAYER, CROSS_ATTENTION,
)  # fmt: skip
