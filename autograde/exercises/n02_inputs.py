"""Notebook 02, exercises 2.6 to 2.8: segments, the sum, and the layer."""

from autograde.exercises import n02_draws as draws
from autograde.exercises.n02_common import BUILD_IT, MODULE, NOTEBOOK, READY_MADE
from autograde.exercises.spec import Exercise, Misconception, Part, cases, function, layer, values

# Where a layer keeps its weights: in a keras Embedding, or as a variable of its own.
ROLES = {f"{name}/table": [f"{name}.embeddings", f"{name}.kernel", name] for name in ("token", "segment", "position")}
ROLES |= {f"norm/{part}": [f"norm.{part}", part] for part in ("gamma", "beta")}

SEGMENT_IDS = Exercise(
    id="segment-ids",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="2.6",
    title="Sentence A or sentence B?",
    minutes=9,
    lines="",
    names=("segment_ids",),
    arguments=("token_ids", "sep_id", "pad_id"),
    probe=function("segment_ids"),
    reference=draws.segments,
    dtype="int32",
    parts=(
        values(2, draws.pairs),
        cases("padding", 1, draws.padded, "with padding behind the last [SEP] the result is another"),
    ),
    forbidden=READY_MADE,
    forbidden_because=BUILD_IT,
    hints=(
        "Put the question to one token: how many [SEP] stand before it? 0 means A, 1 means B.",
        "`ops.cumsum` of the booleans (cast to integers) counts the [SEP] up to *and with* each token; the token "
        "itself must not count.",
        "Padding stands behind a [SEP] too. Whatever the count says, a [PAD] belongs to segment 0.",
    ),
    misconceptions=(
        Misconception(
            "separator-begins-B",
            "Your first [SEP] belongs to B already. It ends sentence A: only tokens *after* it are B's.",
            ((" - is_separator", ""),),
        ),
        Misconception(
            "padding-is-B",
            "Where there is no second sentence your padding becomes one. [PAD] belongs to segment 0, as in the "
            "published tokenizer.",
            (
                (
                    "ops.logical_and(ops.equal(before, 1), ops.not_equal(token_ids, pad_id))",
                    "ops.equal(before, 1)",
                ),
            ),
        ),
        Misconception(
            "a-third-segment",
            "You return the number of [SEP] before a token. Behind the second [SEP] that is 2, and there are only two "
            "segment vectors; [PAD] gets 0.",
            (('return ops.cast(in_second, "int32")', "return before"),),
        ),
        Misconception(
            "segments-from-one",
            "Your segments are called 1 and 2. They are rows of a table with two rows: 0 and 1.",
            (('ops.cast(in_second, "int32")', 'ops.cast(in_second, "int32") + 1'),),
        ),
        Misconception(
            "counted-down-the-batch",
            "You count the [SEP] of the sentences above. Each sentence counts its own, along its row: the last axis.",
            (("axis=-1", "axis=0"),),
        ),
    ),
)

SIDE_BY_SIDE = """
def input_embeddings(token_ids, token_type_ids, w_e, w_s, w_p):
    tokens = token_embeddings(token_ids, w_e)
    kinds = token_embeddings(token_type_ids, w_s)
    places = ops.broadcast_to(learned_positions(token_ids.shape[-1], w_p), tokens.shape)
    return ops.concatenate([tokens, kinds, places], axis=-1)
"""

INPUT_EMBEDDINGS = Exercise(
    id="input-embeddings",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="2.7",
    title="What, which, where: the sum",
    minutes=6,
    lines="ETransformer, lines 3–4",
    names=("input_embeddings",),
    arguments=("token_ids", "token_type_ids", "w_e", "w_s", "w_p"),
    probe=function("input_embeddings"),
    reference=draws.summed,
    parts=(
        values(2, draws.sums),
        Part(
            "each sentence on its own",
            1,
            draws.each_sentence_alone,
            "a sentence must give the same alone as in a batch",
        ),
    ),
    forbidden=READY_MADE,
    forbidden_because=BUILD_IT,
    hints=(
        "Three look-ups, one sum. Which of your functions does the first, which the second, which the third?",
        "A segment id is an id like any other: `token_embeddings` with a table of two rows.",
        "Positions are (tokens, d_e), the other two (batch, tokens, d_e): broadcasting lines them up from the right.",
    ),
    misconceptions=(
        Misconception(
            "side-by-side",
            "You put the three side by side. That is possible, but the vectors become three times as wide; BERT adds.",
            cell=SIDE_BY_SIDE,
        ),
        Misconception(
            "no-segments",
            "The segment vectors are missing. This is line 3 of the algorithm; BERT adds one of two vectors more.",
            (("tokens + segments + positions", "tokens + positions"),),
        ),
        Misconception(
            "no-positions",
            "The position vectors are missing: without them what follows sees a set.",
            (("tokens + segments + positions", "tokens + segments"),),
        ),
        Misconception(
            "averaged",
            "You took the mean of the three. Line 3 is a plain sum.",
            (("tokens + segments + positions", "(tokens + segments + positions) / 3"),),
        ),
        Misconception(
            "places-in-the-batch",
            "Every token of a sentence gets the same position vector: you count the sentences of the batch. Count the "
            "tokens of a sentence, the last axis of the ids.",
            (
                (
                    "learned_positions(token_ids.shape[-1], w_p)",
                    "ops.expand_dims(learned_positions(token_ids.shape[0], w_p), axis=1)",
                ),
            ),
        ),
        Misconception(
            "position-by-id",
            "You look positions up by token id. A token's position is its place in the sentence: 0, 1, 2, … whatever "
            "stands there.",
            (("learned_positions(token_ids.shape[-1], w_p)", "token_embeddings(token_ids, w_p)"),),
        ),
    ),
)

BERT_EMBEDDINGS = Exercise(
    id="bert-embeddings",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="2.8",
    title="BERT's first layer",
    minutes=18,
    lines="ETransformer, lines 3–4, as in BERT",
    names=("BertEmbeddings",),
    arguments=("token_ids", "token_type_ids"),
    probe=layer("BertEmbeddings", ROLES),
    reference=draws.bert_embeddings,
    parts=(
        values(4, draws.layers),
        Part("dropout", 1, draws.training, "in training dropout must act on the layer's result, and only in training"),
        Part(
            "gradients", 1, draws.slopes_of_layer, "the weights cannot be trained: their gradients are others, or none"
        ),
    ),
    forbidden=READY_MADE,
    forbidden_because=BUILD_IT,
    facts=lambda case: {"hidden": case.config["hidden_size"]},
    hints=(
        "All sub-layers are made in `__init__`: three tables, a LayerNormalization, a Dropout. `call` only uses them.",
        "The table of positions is asked for the places 0, 1, …, T − 1, T being the length of the sentences in hand.",
        "Order: look up and add, then `norm`, then dropout, to which you hand `training`. Mind Keras's default ε.",
    ),
    misconceptions=(
        Misconception(
            "no-norm",
            "This is the bare sum. BERT sends it through LayerNorm before anything else sees it.",
            (("self.norm(x)", "x"),),
        ),
        Misconception(
            "keras-epsilon",
            "Right for large numbers, wrong for small ones: Keras's LayerNormalization has ε = 0.001, BERT's is 1e-12. "
            "BERT's tables begin with numbers around 0.02, so the variance of a sum is itself about 0.001.",
            (("epsilon=1e-12, ", ""),),
        ),
        Misconception(
            "only-tokens-normalised",
            "You normalise the token vectors and then add the others. LayerNorm comes after the sum of all three.",
            (
                ("x = self.token(token_ids) +", "x = self.norm(self.token(token_ids)) +"),
                ("self.drop(self.norm(x), training=training)", "self.drop(x, training=training)"),
            ),
        ),
        Misconception(
            "times-root-of-hidden",
            "You multiply the token vectors by √{hidden}. The original transformer does (Vaswani et al. 2017, section "
            "3.4); BERT does not.",
            (("x = self.token(token_ids) +", "x = self.token(token_ids) * self.token.output_dim**0.5 +"),),
        ),
        Misconception(
            "dropout-before-norm",
            "Dropout acts before LayerNorm, which then spreads the zeros over the whole vector. In BERT it comes last.",
            (("self.drop(self.norm(x), training=training)", "self.norm(self.drop(x, training=training))"),),
        ),
        Misconception(
            "dropout-always",
            "Numbers are dropped outside training too, so the same sentence gives another result each time. Hand on "
            "the `training` that you are given.",
            (("self.drop(self.norm(x), training=training)", "self.drop(self.norm(x), training=True)"),),
        ),
        Misconception(
            "dropout-never",
            "Right, but without dropout: in training, a share of the result's numbers is to become 0.",
            (("self.drop(self.norm(x), training=training)", "self.norm(x)"),),
        ),
    ),
)
