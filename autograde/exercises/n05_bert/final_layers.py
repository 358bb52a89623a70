"""Turns vectors into distributions over the vocabulary: lines 10-12 of ETransformer, with d_f = d_e."""

from dataclasses import replace

import numpy as np

from autograde.exercises.n05_bert._shared import (
    FINAL_ROLES,
    WHOLE_BERT,
    before_the_norm_small,
    final_weights,
    in_training,
    own_weights,
    slopes,
)
from autograde.exercises.numpy_bert import dense, gelu, norm, softmax
from autograde.exercises.writing import Case, Exercise, Part, Random, Reference, Trial, layer, mistake, normal


def final_layers(x, training=None, *, weights, config, prefix=""):
    own = {name.removeprefix(prefix): array for name, array in weights.items() if name.startswith(prefix)}
    return softmax(norm(gelu(dense(x, own, "dense")), own, "norm") @ own["unembedding"])


def final_case(rng: Random, x: np.ndarray, vocabulary: int) -> Case:
    return Case((x,), {}, final_weights(rng, x.shape[-1], vocabulary), {"vocab_size": vocabulary})


def after_the_layers(rng: Random) -> list[Trial]:
    """The second one after a call with more and shorter texts."""
    second = replace(final_case(rng, normal(rng, 1, 5, 5), 5), first=(normal(rng, 2, 3, 5),))
    cases = final_case(rng, normal(rng, 2, 3, 6), 9), second
    others = large_scores(rng, 2, 4), before_the_norm_small(final_case(rng, normal(rng, 2, 2, 6), 8))
    return [*(Trial((case,)) for case in (*cases, *others)), small_probabilities(rng, 1, 3)]


def large_scores(rng: Random, batch: int, tokens: int) -> Case:
    """Scores of up to 300, of which a plain exponential is infinite or 0, and far apart from row to row."""
    case = final_case(rng, normal(rng, batch, tokens, 5), 7)
    case.weights["norm/gamma"][0], case.weights["norm/beta"][0] = 1.0, 0.0
    case.weights["unembedding"][0] += 150  # the same for every token of the vocabulary
    return case


def small_probabilities(rng: Random, batch: int, tokens: int) -> Trial:
    """Probabilities down to 1e-9 and below, which must be right too: compared without an absolute tolerance."""
    case = final_case(rng, normal(rng, batch, tokens, 6), 7)
    case.weights["norm/gamma"][0], case.weights["norm/beta"][0] = 0.1, 1.0
    case.weights["unembedding"][0] = np.linspace(0, 30, 7)
    return Trial((case,), (Reference(rtol=0.05),))


def extreme_scores(rng: Random) -> list[Trial]:
    return [
        Trial((final_case(rng, normal(rng, 3, 1, 8), 4),)), Trial((large_scores(rng, 1, 6),)),
        small_probabilities(rng, 2, 2),
    ]  # fmt: skip


def weights_of_final_layers(rng: Random) -> list[Trial]:
    case = final_case(rng, normal(rng, 2, 3, 4), 7)
    return [*own_weights(case), in_training(case)]


def slopes_of_final_layers(rng: Random) -> list[Trial]:
    """The gradients of all weights, and of x (argument 0)."""
    case = final_case(rng, normal(rng, 2, 3, 4), 7)
    return [Trial((case,), (slopes(rng, case, *case.weights, 0, result=(2, 3, 7)),))]


EXERCISE = Exercise(
    probe=layer(FINAL_ROLES),
    reference=final_layers,
    in_graph=True,
    parts=(
        Part("values", 2, after_the_layers, hidden=extreme_scores),
        Part("weights", 0.5, weights_of_final_layers,
            "the layer has other weights than W_f, b_f, γ, β and W_u, or `name` or `trainable=False` has no "
            "effect"),
        Part("gradients", 0.5, slopes_of_final_layers,
            "the weights, or the layers below, cannot be trained: gradients are wrong or missing"),
    ),
    forbidden=WHOLE_BERT,
    facts=lambda case: {"vocabulary": case.config["vocab_size"], "d_e": case.arguments[0].shape[-1]},
    hints=(
        "Three lines, three steps: a Dense with GELU, a LayerNorm, a product with W_u and softmax.",
        "`build` receives the shape of x; its last number is d_e. There you know every size: create the weights "
        "there.",
        "W_u is (d_e, vocab_size), so a plain matrix product works; apply softmax along the axis of the vocabulary.",
    ),
    misconceptions=(
        mistake("kwargs-dropped", "super().__init__(**kwargs)", "super().__init__()",
            hint="`**kwargs` has no effect: hand it on to Keras's constructor. Keras's own arguments, such "
                 "as `trainable` and `name`, arrive there."),
        mistake("output-bias", "self.unembedding = self.add_weight(",
            'self.bias = self.add_weight(shape=(self.vocab_size,), initializer="zeros", name="bias")\n'
            "        self.unembedding = self.add_weight(",
            "ops.matmul(x, self.unembedding)", "ops.matmul(x, self.unembedding) + self.bias",
            hint="Your layer adds a bias per token of the vocabulary. The algorithm has none there; BERT's head (5.5) "
                 "has one."),
        mistake("no-softmax",
            "ops.softmax(ops.matmul(x, self.unembedding), axis=-1)", "ops.matmul(x, self.unembedding)",
            hint="These are the scores X W_u. Line 12 returns P: the softmax of each row."),
        mistake("softmax-over-tokens", "self.unembedding), axis=-1)", "self.unembedding), axis=1)",
            hint="Your columns sum to 1: you apply softmax over the tokens of a text. Apply it over the vocabulary, "
                 "the last axis, of size {vocabulary}."),
        mistake("straight-to-the-vocabulary", "        x = gelu(self.dense(x))\n        x = self.norm(x)\n", "",
            hint="Lines 10 and 11 are missing: you apply W_u directly to the output of the layers."),
        mistake("no-gelu", "gelu(self.dense(x))", "self.dense(x)",
            hint="Line 10 has a GELU around X W_f + b_f; it is missing."),
        mistake("no-norm", "        x = self.norm(x)\n", "",
            hint="Line 11 is missing: the LayerNorm between GELU and W_u."),
        mistake("norm-first",
            "gelu(self.dense(x))", "self.dense(x)",
            "x = self.norm(x)", "x = gelu(self.norm(x))",
            hint="You normalise first and apply GELU afterwards. Line 10 comes before line 11."),
        mistake("keras-epsilon", "self.norm = LayerNorm()", "self.norm = keras.layers.LayerNormalization()",
            hint="Right for large numbers, wrong for small ones: Keras's LayerNormalization has ε = 0.001. Use your "
                 "LayerNorm, which has BERT's 1e-12."),
        mistake("another-epsilon", "self.norm = LayerNorm()", "self.norm = LayerNorm(epsilon=1e-6)",
            hint="Right for large numbers, wrong for small ones: the ε of your LayerNorm is not 1e-12. Give it none: "
                 "then it has BERT's."),
        mistake("residual-here-too", "gelu(self.dense(x))", "x + gelu(self.dense(x))",
            hint="You add x to what line 10 computes, as in lines 6 and 8. The final layers have no residual "
                 "connection."),
    ),
)  # fmt: skip
