"""Notebook 03, exercises 3.9 to 3.11: many heads, and one sequence that reads another."""

from autograde.exercises import n03_draws as draws
from autograde.exercises.n03_common import BUILD_IT, HEAD_ARGUMENTS, NOTEBOOK, WHOLE_ATTENTION
from autograde.exercises.spec import Exercise, Misconception, Part, cases, function, layer, values

# Where a layer keeps its weights: one Dense per projection, or a list of them with one per head.
ROLES = {
    f"{name}/{part}": [f"{name}.{part}", f"{name}.*.{part}"]
    for name in ("query", "key", "value", "out")
    for part in ("kernel", "bias")
}

MH_ATTENTION = Exercise(
    id="mh-attention",
    notebook=NOTEBOOK,
    kept_in="attention",
    number="3.9",
    title="A loop over heads",
    minutes=7,
    lines="MHAttention, lines 1–5",
    names=("mh_attention",),
    arguments=("x", "heads", "w_o", "b_o"),
    probe=function("mh_attention"),
    reference=draws.multi_head,
    parts=(
        values(3, draws.inputs_of_heads),
        Part(
            "order of tokens",
            1,
            draws.shuffled(draws.arguments_of_heads),
            "shuffling the tokens must shuffle the outputs and change nothing else",
        ),
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
            (
                (
                    "        found.append(attention(x, *parameters))",
                    "        x = attention(x, *parameters)\n        found.append(x)",
                ),
            ),
        ),
        Misconception(
            "heads-added",
            ("You add the heads up before the output projection. W_o has H · d_mid rows: it wants them side by side."),
            (("concat_heads(found)", "sum(found)"),),
        ),
    ),
)

MULTI_HEAD_LAYER = Exercise(
    id="multi-head-layer",
    notebook=NOTEBOOK,
    kept_in="attention",
    number="3.10",
    title="All heads at once: a Keras layer",
    minutes=18,
    lines="MHAttention, lines 1–5",
    names=("MultiHeadAttention",),
    arguments=("x",),
    probe=layer("MultiHeadAttention", ROLES),
    reference=draws.multi_head_layer,
    parts=(
        values(3, draws.inputs_of_layer),
        cases("mask", 1, draws.masked_layer, "with a mask the result is another"),
        Part(
            "gradients", 1, draws.slopes_of_layer, "the weights cannot be trained: their gradients are others, or none"
        ),
        Part("each sentence on its own", 1, draws.batch_of_one, "a sentence must give the same alone as in a batch"),
    ),
    forbidden=WHOLE_ATTENTION,
    forbidden_because=BUILD_IT,
    facts=lambda case: {
        "hidden": case.arguments[0].shape[-1],
        "heads": case.config["num_heads"],
        "d": case.arguments[0].shape[-1] // case.config["num_heads"],
    },
    hints=(
        "Print the shape after every step and hold it against the chain above the stub.",
        (
            "split_heads: reshape to (batch, tokens, heads, d), then exchange the axes 1 and 2. Going back: "
            "exchange first, then reshape."
        ),
        (
            "The mask is (batch, 1 or tokens, tokens), the scores are (batch, heads, tokens, tokens): one "
            "`ops.expand_dims` lines them up."
        ),
    ),
    misconceptions=(
        Misconception(
            "scaled-by-hidden-size",
            ("You divide by √{hidden}, the root of the hidden size. A head's vectors have {d} numbers, so it is √{d}."),
            (("attention_scores(q, k)", "ops.matmul(q, ops.swapaxes(k, -1, -2)) / ops.shape(x)[-1] ** 0.5"),),
        ),
        Misconception(
            "split-without-transpose",
            (
                "Reshaping straight to (batch, heads, tokens, d) cuts the sentence, not the vectors: a head gets "
                "pieces of several tokens. First (batch, tokens, heads, d), then exchange two axes."
            ),
            (
                (
                    "(batch, tokens, self.num_heads, hidden // self.num_heads)",
                    "(batch, self.num_heads, tokens, hidden // self.num_heads)",
                ),
                ("return ops.transpose(x, (0, 2, 1, 3))", "return x"),
            ),
        ),
        Misconception(
            "merged-without-transpose",
            (
                "You join the heads without exchanging the axes back: rows then mix several tokens. Transpose to "
                "(batch, tokens, heads, d) first."
            ),
            (("ops.reshape(ops.transpose(found, (0, 2, 1, 3)), ops.shape(x))", "ops.reshape(found, ops.shape(x))"),),
        ),
        Misconception(
            "no-output-projection",
            "The heads stand side by side, but nobody mixes them: the last step is self.out.",
            (("return self.out(side_by_side)", "return side_by_side"),),
        ),
        Misconception(
            "one-large-head",
            (
                "There is one head as wide as the hidden size. `num_heads` = {heads} heads have {d} numbers each, "
                "and each has its own softmax."
            ),
            (("(batch, tokens, self.num_heads, hidden // self.num_heads)", "(batch, tokens, 1, hidden)"),),
        ),
        Misconception(
            "mask-inverted",
            "With a mask you hide exactly what may be seen. True means: may be seen.",
            (
                (
                    "ops.where(ops.expand_dims(attention_mask, axis=1), scores, MASKED_SCORE)",
                    "ops.where(ops.expand_dims(attention_mask, axis=1), MASKED_SCORE, scores)",
                ),
            ),
        ),
        Misconception(
            "mask-ignored",
            "The mask has no effect. It belongs between scores and softmax, as in 3.8.",
            (("if attention_mask is not None:", "if False:"),),
        ),
        Misconception(
            "mask-without-heads",
            (
                "The mask has no axis of heads yet, so its axis of sentences is lined up with that of the heads: every "
                "sentence gets the masks of others. `ops.expand_dims` at axis 1 makes room."
            ),
            (("ops.expand_dims(attention_mask, axis=1)", "attention_mask"),),
        ),
        Misconception(
            "mask-on-queries",
            (
                "The mask's new axis stands last: this hides what a token asks, not the token. The axis of heads "
                "is axis 1."
            ),
            (("ops.expand_dims(attention_mask, axis=1)", "ops.expand_dims(attention_mask, axis=-1)"),),
        ),
        Misconception(
            "out-of-the-graph",
            "The values are right, but the layer cannot learn: through NumPy no gradient flows back to query and key. "
            "Stay with `keras.ops` from the first line to the last.",
            (
                (
                    "weights = softmax_rows(scores)",
                    "weights = ops.convert_to_tensor(softmax_rows(scores).numpy())",
                ),
            ),
        ),
        Misconception(
            "queries-everywhere",
            "Keys and values come from self.query as well. Each has a projection of its own.",
            (
                (
                    "self.split_heads(self.key(x)), self.split_heads(self.value(x))",
                    "self.split_heads(self.query(x)), self.split_heads(self.query(x))",
                ),
            ),
        ),
    ),
)

CROSS_ATTENTION = Exercise(
    id="cross-attention",
    notebook=NOTEBOOK,
    kept_in="attention",
    number="3.11",
    title="Cross-attention",
    minutes=5,
    lines="Attention, lines 1–6, with two sequences",
    names=("cross_attention",),
    arguments=("z", "h", *HEAD_ARGUMENTS),
    probe=function("cross_attention"),
    reference=draws.cross,
    parts=(
        values(2, draws.two_sequences),
        Part(
            "the other sequence is a set",
            1,
            draws.order_of_the_other,
            "the order of the other sequence's tokens must not matter",
        ),
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
            (
                "Your h asks and your z answers. The output has a row per token of z: queries from z, keys and "
                "values from h."
            ),
            (
                ("ops.matmul(z, w_q)", "ops.matmul(h, w_q)"),
                ("ops.matmul(h, w_k)", "ops.matmul(z, w_k)"),
                ("ops.matmul(h, w_v)", "ops.matmul(z, w_v)"),
            ),
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
)
