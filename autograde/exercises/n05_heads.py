"""Notebook 05, exercises 5.3, 5.5, 5.6 and 5.7: the pooler, the two pre-training heads, and counting parameters."""

from autograde.exercises import n05_draws as draws
from autograde.exercises import n05_references as references
from autograde.exercises.n05_common import BUILD_IT, NOTEBOOK, WHOLE_BERT, dense_roles, norm_roles
from autograde.exercises.spec import Exercise, Misconception, Part, cases, function, layer, values

POOLER = Exercise(
    id="pooler",
    notebook=NOTEBOOK,
    kept_in="bert",
    number="5.3",
    title="The pooler",
    minutes=3,
    lines="",
    names=("Pooler",),
    arguments=("hidden",),
    probe=layer("Pooler", dense_roles("dense")),
    reference=references.pooler,
    parts=(
        values(1, draws.hidden_states),
        Part("only [CLS]", 1, draws.other_tokens_changed, "the other tokens' vectors must not matter"),
    ),
    forbidden=WHOLE_BERT,
    forbidden_because=BUILD_IT,
    facts=lambda case: {"tokens": case.arguments[0].shape[1]},
    hints=(
        "(B, T, H) goes in, (B, H) comes out: which axis is gone, and which of its entries stays?",
        "[CLS] is the first token: index 0 of axis 1.",
        "Then the Dense, then tanh (as its activation or afterwards).",
    ),
    misconceptions=(
        Misconception(
            "mean-of-all",
            "You average the {tokens} tokens. BERT's pooler reads one vector, the first, [CLS]. (Averaging is a good "
            "idea of its own: Reimers & Gurevych 2019.)",
            (("hidden[:, 0]", "ops.mean(hidden, axis=1)"),),
        ),
        Misconception(
            "last-token",
            "You read the last token. [CLS] stands in front.",
            (("hidden[:, 0]", "hidden[:, -1]"),),
        ),
        Misconception(
            "first-text",
            "You take the first text of the batch, not the first token of every text: the batch is axis 0, tokens are "
            "axis 1.",
            (("hidden[:, 0]", "hidden[0]"),),
        ),
        Misconception(
            "no-tanh",
            "The tanh is missing: numbers outside (−1, 1) come back.",
            (("ops.tanh(self.dense(first))", "self.dense(first)"),),
        ),
        Misconception(
            "tanh-first",
            "You take tanh of the vector of [CLS] and then the Dense. It is the other way round: the tanh comes last.",
            (("ops.tanh(self.dense(first))", "self.dense(ops.tanh(first))"),),
        ),
        Misconception(
            "tanh-twice",
            "The tanh is taken twice: as the activation of the Dense and once more afterwards.",
            (("keras.layers.Dense(size)", 'keras.layers.Dense(size, activation="tanh")'),),
        ),
        Misconception(
            "gelu-instead",
            "GELU is the encoder's activation; the pooler has tanh.",
            (("ops.tanh(", "gelu("),),
        ),
        Misconception(
            "every-token",
            "You pool every token and return (B, T, H). One vector per text: take [CLS] alone.",
            (("hidden[:, 0]", "hidden"),),
        ),
    ),
)

MLM_HEAD = Exercise(
    id="mlm-head",
    notebook=NOTEBOOK,
    kept_in="bert",
    number="5.5",
    title="Masked words: the tied head",
    minutes=6,
    lines="ETransformer, lines 10–12, as BERT has them",
    names=("MlmHead",),
    arguments=("hidden", "table"),
    probe=layer("MlmHead", dense_roles("dense") | norm_roles("norm") | {"bias": ["bias"]}),
    reference=references.mlm_head,
    parts=(
        values(3, draws.hidden_and_table),
        Part(
            "gradients",
            1,
            draws.slopes_of_mlm_head,
            "the weights cannot be trained: their gradients are others, or none",
        ),
    ),
    forbidden=WHOLE_BERT,
    forbidden_because=BUILD_IT,
    facts=lambda case: {"vocabulary": case.config["vocab_size"], "hidden": case.arguments[0].shape[-1]},
    hints=(
        "Start from `FinalLayers`: lines 10 and 11 are the same. What changes is line 12.",
        "The table is (V, H) and x is (B, T, H). You want (B, T, V): the table has to be turned.",
        "One number per piece is added at the end, and there is no softmax.",
    ),
    misconceptions=(
        Misconception(
            "no-output-bias",
            "The output bias is missing: one number per piece, added to the logits.",
            ((" + self.bias", ""),),
        ),
        Misconception(
            "probabilities",
            "Probabilities came back. The head returns logits; the loss takes softmax itself, and safely.",
            (
                (
                    "ops.matmul(x, ops.transpose(table)) + self.bias",
                    "ops.softmax(ops.matmul(x, ops.transpose(table)) + self.bias, axis=-1)",
                ),
            ),
        ),
        Misconception(
            "norm-before-gelu",
            "You normalise before GELU. Line 10 comes first: GELU(X W + b), then LayerNorm.",
            (("self.norm(gelu(self.dense(hidden)))", "gelu(self.norm(self.dense(hidden)))"),),
        ),
        Misconception(
            "no-transform",
            "The table is multiplied with the hidden states themselves. Dense, GELU and LayerNorm come before.",
            (("self.norm(gelu(self.dense(hidden)))", "hidden"),),
        ),
        Misconception(
            "no-gelu",
            "The GELU between Dense and LayerNorm is missing.",
            (("self.norm(gelu(self.dense(hidden)))", "self.norm(self.dense(hidden))"),),
        ),
        Misconception(
            "no-norm",
            "The LayerNorm between GELU and the table is missing.",
            (("self.norm(gelu(self.dense(hidden)))", "gelu(self.dense(hidden))"),),
        ),
        Misconception(
            "table-not-turned",
            "The table lies as it is, (V, H): a row per piece. Turn it, so that each piece has a column.",
            (("ops.transpose(table)", "table"),),
        ),
    ),
)

NSP_HEAD = Exercise(
    id="nsp-head",
    notebook=NOTEBOOK,
    kept_in="bert",
    number="5.6",
    title="Does B follow A?",
    minutes=3,
    lines="",
    names=("NspHead",),
    arguments=("pooled",),
    probe=layer("NspHead", dense_roles("dense")),
    reference=references.nsp_head,
    parts=(
        values(1, draws.pooled_vectors),
        Part(
            "gradients",
            1,
            draws.slopes_of_nsp_head,
            "the weights cannot be trained: their gradients are others, or none",
        ),
    ),
    forbidden=WHOLE_BERT,
    forbidden_because=BUILD_IT,
    hints=(
        "One linear layer, nothing around it.",
        "Two outputs: a logit for each of the two answers.",
        "Logits are what comes before softmax; the loss of notebook 07 takes them as they are.",
    ),
    misconceptions=(
        Misconception(
            "one-number",
            "One number came for yes or no. BERT has two logits, one per answer, and takes softmax over them.",
            (("keras.layers.Dense(2)", "keras.layers.Dense(1)"),),
        ),
        Misconception(
            "probabilities",
            "Your two numbers sum to 1: softmax is already in them. The head returns logits.",
            (("return self.dense(pooled)", "return ops.softmax(self.dense(pooled), axis=-1)"),),
        ),
        Misconception(
            "classes-exchanged",
            "Your columns are the other way round: 0 is IsNext, 1 is NotNext, in every published BERT.",
            (("return self.dense(pooled)", "return ops.flip(self.dense(pooled), axis=-1)"),),
        ),
        Misconception(
            "tanh-again",
            "You put a tanh around the logits. The pooler has one already; logits may be of any size.",
            (("return self.dense(pooled)", "return ops.tanh(self.dense(pooled))"),),
        ),
    ),
)

PARAMETER_COUNT = Exercise(
    id="parameter-count",
    notebook=NOTEBOOK,
    kept_in="bert",
    number="5.7",
    title="Counting parameters",
    minutes=9,
    lines="the list of parameters",
    names=("parameter_count",),
    arguments=("vocab_size", "hidden_size", "num_layers", "num_heads", "intermediate_size"),
    probe=function("parameter_count"),
    reference=references.parameter_count,
    returns="int",
    parts=(
        values(2, draws.small_sizes),
        cases("BERT's own sizes", 1, draws.published_sizes, "another number for Base, Large or other tables"),
        cases("with the heads", 1, draws.with_heads, "another number with the pre-training heads"),
    ),
    forbidden=("bertlab", "transformers", "keras_hub"),
    forbidden_because="This exercise is about counting yourself.",
    hints=(
        "Go down the table line by line and write one variable per line; add them up at the end.",
        "A Dense a → b is a·b + b; a LayerNorm of width H is 2·H. The number of heads changes nothing: they share H.",
        "Check a line alone: attention is 4·(H² + H) per layer, the pooler H² + H, and only the layers are times L.",
    ),
    misconceptions=(
        Misconception(
            "biases-forgotten",
            "The biases of the Dense layers are missing: a Dense a → b has a·b + b parameters.",
            (
                ("4 * (h * h + h)", "4 * h * h"),
                ("(h * f + f) + (f * h + h)", "2 * h * f"),
                ("pooler = h * h + h", "pooler = h * h"),
                ("(h * h + h) + norm", "h * h + norm"),
                ("2 * h + 2", "2 * h"),
            ),
        ),
        Misconception(
            "heads-multiplied",
            "You count the attention once for each head. The heads share the four H × H matrices among them: each head "
            "has H / A columns.",
            (("4 * (h * h + h)", "num_heads * 4 * (h * h + h)"),),
        ),
        Misconception(
            "no-output-projection",
            "Three Dense layers of attention are counted: query, key and value. The fourth mixes the heads (W_o, b_o).",
            (("4 * (h * h + h)", "3 * (h * h + h)"),),
        ),
        Misconception(
            "one-norm-per-layer",
            "One LayerNorm per layer is missing: lines 7 and 9 have one each.",
            (("feed_forward + norm\n", "feed_forward\n"),),
        ),
        Misconception(
            "norm-has-one-vector",
            "A LayerNorm has two vectors, γ and β.",
            (("norm = 2 * h", "norm = h"),),
        ),
        Misconception(
            "pooler-forgotten",
            "The pooler is missing: one more Dense H → H. (It belongs to the model, not to the heads.)",
            (("+ num_layers * layer + pooler", "+ num_layers * layer"),),
        ),
        Misconception(
            "always-four-times",
            "You took 4·H for the width inside the feed-forward network. So it is in the published sizes; here "
            "`intermediate_size` says it.",
            (("f = hidden_size, intermediate_size", "f = hidden_size, 4 * hidden_size"),),
        ),
        Misconception(
            "table-counted-twice",
            "With the heads you count the token table a second time. It is tied: the MLM head uses the one that is "
            "there and adds only a bias per piece.",
            (("+ norm + vocab_size", "+ norm + vocab_size + vocab_size * h"),),
        ),
    ),
)
