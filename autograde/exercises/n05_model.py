"""Notebook 05, exercises 5.1, 5.2 and 5.4: the algorithm's twelve lines, and BERT."""

from autograde.exercises import n05_draws as draws
from autograde.exercises import n05_references as references
from autograde.exercises.n05_common import (
    BUILD_IT,
    ENCODER_ROLES,
    NOTEBOOK,
    WHOLE_BERT,
    dense_roles,
    norm_roles,
)
from autograde.exercises.spec import Exercise, Misconception, Part, cases, layer, values

_FINAL_ROLES = dense_roles("dense") | norm_roles("norm") | {"unembedding": ["unembedding", "unembedding.kernel"]}

FINAL_LAYERS = Exercise(
    id="final-layers",
    notebook=NOTEBOOK,
    kept_in="bert",
    number="5.1",
    title="From vectors to words",
    minutes=7,
    lines="ETransformer, lines 10–12",
    names=("FinalLayers",),
    arguments=("x",),
    probe=layer("FinalLayers", _FINAL_ROLES),
    reference=references.final_layers,
    parts=(
        values(2, draws.after_the_layers),
        Part(
            "gradients",
            1,
            draws.slopes_of_final_layers,
            "the weights cannot be trained: their gradients are others, or none",
        ),
    ),
    forbidden=WHOLE_BERT,
    forbidden_because=BUILD_IT,
    facts=lambda case: {"vocabulary": case.config["vocab_size"], "d_e": case.arguments[0].shape[-1]},
    hints=(
        "Three lines, three steps: a Dense with GELU, a LayerNorm, a product with W_u and softmax.",
        "`build` gets the shape of x; its last number is d_e. There you know every size: make the weights there.",
        "W_u is (d_e, vocab_size), so a plain matrix product fits; softmax runs along the axis of the pieces.",
    ),
    misconceptions=(
        Misconception(
            "no-softmax",
            "These are the scores X W_u. Line 12 returns P: the softmax of each row.",
            (("ops.softmax(ops.matmul(x, self.unembedding), axis=-1)", "ops.matmul(x, self.unembedding)"),),
        ),
        Misconception(
            "softmax-over-tokens",
            "Your columns sum to 1: the tokens of a text share each piece among them. Every token chooses for itself; "
            "the axis of the {vocabulary} pieces is the last.",
            (("self.unembedding), axis=-1)", "self.unembedding), axis=1)"),),
        ),
        Misconception(
            "straight-to-the-vocabulary",
            "Lines 10 and 11 are missing: W_u is applied to what comes out of the layers.",
            (("        x = gelu(self.dense(x))\n        x = self.norm(x)\n", ""),),
        ),
        Misconception(
            "no-gelu",
            "Line 10 has a GELU around X W_f + b_f; yours goes on without it.",
            (("gelu(self.dense(x))", "self.dense(x)"),),
        ),
        Misconception(
            "no-norm",
            "Line 11 is missing: the LayerNorm between GELU and W_u.",
            (("        x = self.norm(x)\n", ""),),
        ),
        Misconception(
            "norm-first",
            "You normalise first and apply GELU afterwards. Line 10 comes before line 11.",
            (("gelu(self.dense(x))", "self.dense(x)"), ("x = self.norm(x)", "x = gelu(self.norm(x))")),
        ),
        Misconception(
            "residual-here-too",
            "You add x to what line 10 computes, as in lines 6 and 8. The final layers have no residual connection.",
            (("gelu(self.dense(x))", "x + gelu(self.dense(x))"),),
        ),
    ),
)

_IN_THE_LOOP = """        for layer in self.encoder.layers_:
            e = self.final.norm(gelu(self.final.dense(layer(e))))
        return ops.softmax(ops.matmul(e, self.final.unembedding), axis=-1)
"""

ETRANSFORMER = Exercise(
    id="etransformer",
    notebook=NOTEBOOK,
    kept_in="bert",
    number="5.2",
    title="ETransformer",
    minutes=10,
    lines="ETransformer, lines 1–12",
    names=("ETransformer",),
    arguments=("x",),
    probe=layer(
        "ETransformer",
        {"token/embeddings": ["token.embeddings"], "position/embeddings": ["position.embeddings"]}
        | ENCODER_ROLES
        | {f"final/{role}": [f"final.{path}" for path in paths] + paths for role, paths in _FINAL_ROLES.items()},
    ),
    reference=references.etransformer,
    parts=(
        values(3, draws.sequences),
        cases("positions", 2, draws.repeated_token, "a text that repeats one token gives another result"),
    ),
    forbidden=WHOLE_BERT,
    forbidden_because=BUILD_IT,
    facts=lambda case: {"layers": case.config["num_layers"]},
    hints=(
        "Three parts, one after the other: look up and add (lines 2–4), the encoder (5–9), the final layers (10–12).",
        "Position t gets row t of W_p, the same in every text of the batch: look up 0, 1, 2, … with `ops.arange`.",
        "`ops.shape(x)[1]` is ℓ. The positions' vectors are (ℓ, d_e); broadcasting adds them to (batch, ℓ, d_e).",
    ),
    misconceptions=(
        Misconception(
            "no-positions",
            "W_p is missing: line 3 adds a vector for the place to the vector for the piece.",
            (("self.token(x) + self.position(places)", "self.token(x)"),),
        ),
        Misconception(
            "positions-from-one",
            "Your places begin with 1, as the lecture counts. The rows of a table begin with 0: the first token gets "
            "row 0.",
            (("places = ops.arange(ops.shape(x)[1])", "places = ops.arange(1, ops.shape(x)[1] + 1)"),),
        ),
        Misconception(
            "same-place-for-all",
            "Every token gets the vector of the same place. Place t gets row t of W_p.",
            (("self.position(places)", "self.position(places[:1])"),),
        ),
        Misconception(
            "final-layers-in-the-loop",
            "You apply lines 10 and 11 after every layer. They stand behind the loop: once, after layer L.",
            (("        e = self.encoder(e)\n        return self.final(e)\n", _IN_THE_LOOP),),
        ),
        Misconception(
            "one-layer-again-and-again",
            "You go through the same layer {layers} times. Line 5: every layer l has parameters of its own.",
            (
                (
                    "e = self.encoder(e)",
                    "for _ in self.encoder.layers_:\n            e = self.encoder.layers_[0](e)",
                ),
            ),
        ),
        Misconception(
            "places-scaled",
            "You multiply the piece by its place. Line 3 adds the two vectors.",
            (("self.token(x) + self.position(places)", "self.token(x) * self.position(places)"),),
        ),
    ),
)

BERT = Exercise(
    id="bert",
    notebook=NOTEBOOK,
    kept_in="bert",
    number="5.4",
    title="BERT",
    minutes=10,
    lines="ETransformer, lines 1–9, as BERT has them",
    names=("Bert",),
    arguments=("token_ids", "token_type_ids", "attention_mask"),
    probe=layer(
        "Bert",
        {f"embeddings/{name}": [f"embeddings.{name}.embeddings"] for name in ("token", "position", "segment")}
        | {f"embeddings/{role}": [f"embeddings.{path}" for path in paths] for role, paths in norm_roles("norm").items()}
        | ENCODER_ROLES
        | {f"pooler/{role}": [f"pooler.{path}" for path in paths] for role, paths in dense_roles("dense").items()},
    ),
    reference=references.bert,
    returns="tuple",
    parts=(
        values(3, draws.nothing_padded),
        cases("padding", 3, draws.padded_texts, "with padding in the batch the result is another"),
    ),
    forbidden=WHOLE_BERT,
    forbidden_because=BUILD_IT,
    facts=lambda case: {"tokens": case.arguments[0].shape[1]},
    hints=(
        "Four steps, four lines: embeddings, mask, encoder, pooler. Print the shape after each.",
        "`padding_mask` of notebook 03 makes (B, 1, T) from (B, T); the encoder wants it by name: `attention_mask=`.",
        "The pooler reads the last layer's hidden states, and both go back: `return hidden, pooled`.",
    ),
    misconceptions=(
        Misconception(
            "mask-not-handed-on",
            "With padding the result changes: the encoder never gets the mask, so every token reads the filling.",
            (("self.encoder(x, attention_mask=visible, training=training)", "self.encoder(x, training=training)"),),
        ),
        Misconception(
            "mask-turned-round",
            "You hide what is real and show the padding. 1 means: a piece of text.",
            (("padding_mask(attention_mask)", "padding_mask(1 - attention_mask)"),),
        ),
        Misconception(
            "segments-left-out",
            "Every token counts as segment A: `token_type_ids` says who belongs to B. Hand it to the embeddings.",
            (
                (
                    "self.embeddings(token_ids, token_type_ids, training=training)",
                    "self.embeddings(token_ids, ops.zeros_like(token_ids), training=training)",
                ),
            ),
        ),
        Misconception(
            "mask-for-segments",
            "The mask went into the embeddings as if it were the segments. In order: token ids, segments, mask.",
            (
                (
                    "self.embeddings(token_ids, token_type_ids, training=training)",
                    "self.embeddings(token_ids, attention_mask, training=training)",
                ),
            ),
        ),
        Misconception(
            "pooled-embeddings",
            "You pool what goes into the encoder. [CLS] has seen nothing yet: pool the last layer's hidden states.",
            (("self.pooler(hidden)", "self.pooler(x)"),),
        ),
        Misconception(
            "padding-set-to-zero",
            "You set the padding's vectors to zero. They are still looked at: a zero vector has a key and a value too. "
            "The mask belongs into attention.",
            (
                (
                    "self.encoder(x, attention_mask=visible, training=training)",
                    "self.encoder(x * ops.cast(attention_mask, x.dtype)[:, :, None], training=training)",
                ),
            ),
        ),
    ),
)
