"""The masked-language-model head, tied to the token table."""

from dataclasses import replace

import numpy as np

from autograde.boundary import roles
from autograde.exercises.n05_bert._shared import (
    WHOLE_BERT,
    before_the_norm_small,
    dense_weights,
    in_training,
    norm_weights,
    own_weights,
    slopes,
)
from autograde.exercises.numpy_bert import dense, gelu, norm
from autograde.exercises.writing import Case, Exercise, Part, Random, Trial, layer, mistake, normal, values


def mlm_head(hidden, table, training=None, *, weights, config):
    return norm(gelu(dense(hidden, weights, "dense")), weights, "norm") @ table.T + weights.get("bias", 0.0)


def mlm_case(rng: Random, hidden: np.ndarray, vocabulary: int) -> Case:
    width = hidden.shape[-1]
    weights = dense_weights(rng, "dense", width, width) | norm_weights(rng, "norm", width)
    weights["bias"] = normal(rng, vocabulary)
    return Case((hidden, normal(rng, vocabulary, width)), {}, weights, {"vocab_size": vocabulary})


def hidden_and_table(rng: Random) -> list[Case]:
    """The second one after a call with another table and one shorter text; the third with small numbers before
    LayerNorm."""
    second = mlm_case(rng, normal(rng, 2, 4, 5), 5)
    before = (normal(rng, 1, 2, 5), normal(rng, 5, 5))
    third = before_the_norm_small(mlm_case(rng, normal(rng, 2, 2, 6), 8))
    return [mlm_case(rng, normal(rng, 2, 3, 6), 9), replace(second, first=before), third]


def one_token_and_few_entries(rng: Random) -> list[Case]:
    return [mlm_case(rng, normal(rng, 1, 1, 3), 11), mlm_case(rng, normal(rng, 3, 2, 8), 4)]


def weights_of_mlm_head(rng: Random) -> list[Trial]:
    case = mlm_case(rng, normal(rng, 2, 3, 4), 7)
    new = replace(case, weights={role: array for role, array in case.weights.items() if role != "bias"})
    return [*own_weights(case), in_training(case), Trial((new,))]


def slopes_of_mlm_head(rng: Random) -> list[Trial]:
    """The gradients of the head's weights, of the hidden states (argument 0) and of the table (argument 1)."""
    case = mlm_case(rng, normal(rng, 2, 3, 4), 7)
    return [Trial((case,), (slopes(rng, case, *case.weights, 0, 1, result=(2, 3, 7)),))]


EXERCISE = Exercise(
    probe=layer(roles.MLM_HEAD),
    reference=mlm_head,
    in_graph=True,
    parts=(
        values(3, hidden_and_table, hidden=one_token_and_few_entries),
        Part("weights", 0.5, weights_of_mlm_head,
            "the head has other weights than those of its Dense, its LayerNorm and one bias, the bias does not begin "
            "with zeros, or `name` or `trainable=False` has no effect"),
        Part("gradients", 0.5, slopes_of_mlm_head,
            "weights or table cannot be trained: their gradients are wrong or missing"),
    ),
    forbidden=WHOLE_BERT,
    facts=lambda case: {"vocabulary": case.config["vocab_size"], "hidden": case.arguments[0].shape[-1]},
    hints=(
        "Start from `FinalLayers`: lines 10 and 11 are the same; only line 12 changes.",
        "The table is (V, H) and x is (B, T, H). The result is (B, T, V): transpose the table.",
        "Add one number per token of the vocabulary at the end, and apply no softmax.",
    ),
    misconceptions=(
        mistake("kwargs-dropped", "super().__init__(**kwargs)", "super().__init__()",
            hint="`**kwargs` has no effect: hand it on to Keras's constructor. Keras's own arguments, such "
                 "as `trainable` and `name`, arrive there."),
        mistake("table-not-trained", "ops.transpose(table)", "ops.transpose(ops.stop_gradient(table))",
            hint="No gradient reaches the table. The weights are tied: every token vector is trained from both sides."),
        mistake("no-output-bias", " + self.bias", "",
            hint="The output bias is missing: one number per token of the vocabulary, added to the logits."),
        mistake("probabilities", "ops.matmul(x, ops.transpose(table)) + self.bias",
            "ops.softmax(ops.matmul(x, ops.transpose(table)) + self.bias, axis=-1)",
            hint="You return probabilities. The head returns logits; the loss applies softmax itself, in a stable "
                 "way."),
        mistake("norm-before-gelu", "self.norm(gelu(self.dense(hidden)))", "gelu(self.norm(self.dense(hidden)))",
            hint="You normalise before GELU. Line 10 comes first: GELU(X W + b), then LayerNorm."),
        mistake("no-transform", "self.norm(gelu(self.dense(hidden)))", "hidden",
            hint="You multiply the table with the hidden states themselves. Apply Dense, GELU and LayerNorm first."),
        mistake("no-gelu", "self.norm(gelu(self.dense(hidden)))", "self.norm(self.dense(hidden))",
            hint="The GELU between Dense and LayerNorm is missing."),
        mistake("no-norm", "self.norm(gelu(self.dense(hidden)))", "gelu(self.dense(hidden))",
            hint="The LayerNorm between GELU and the table is missing."),
        mistake("keras-epsilon", "self.norm = LayerNorm()", "self.norm = keras.layers.LayerNormalization()",
            hint="Right for large numbers, wrong for small ones: Keras's LayerNormalization has ε = 0.001. Use your "
                 "LayerNorm, which has BERT's 1e-12."),
        mistake("another-epsilon", "self.norm = LayerNorm()", "self.norm = LayerNorm(epsilon=1e-6)",
            hint="Right for large numbers, wrong for small ones: the ε of your LayerNorm is not 1e-12. Give it none: "
                 "then it has BERT's."),
        mistake("table-not-turned", "ops.transpose(table)", "table",
            hint="You use the table as it is, (V, H): a row per token. Transpose it, so that each token has a column."),
    ),
)  # fmt: skip
