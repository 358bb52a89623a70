"""BERT with its two pre-training heads."""

import numpy as np

from autograde.exercises.draws import Random, normal
from autograde.exercises.n07_pretraining._shared import rows_of_tokens
from autograde.exercises.n07_pretraining.gather_positions import gather_positions
from autograde.exercises.numpy_bert import below, dense, encoder_layer, gelu, norm
from autograde.exercises.spec import Case, Exercise, Forbidden, cases, layer, mistake, values
from autograde.roles import model_roles, weight_shapes

SIZES = {"vocab_size": 11, "hidden_size": 8, "num_layers": 1, "num_heads": 2, "intermediate_size": 12,
         "max_positions": 7}  # fmt: skip
MODEL_ROLES = model_roles(SIZES["num_layers"])


def pretraining_model(token_ids, token_type_ids, attention_mask, positions, *, weights, config):
    """BERT with both heads: MLM logits (B, P, V) of the positions, NSP logits (B, 2)."""
    x = weights["embeddings/token"][token_ids] + weights["embeddings/segment"][token_type_ids]
    x = norm(x + weights["embeddings/position"][: token_ids.shape[1]], weights, "embeddings/norm")
    for number in range(config["num_layers"]):
        x = encoder_layer(x, attention_mask[:, None, :] > 0, weights=below(weights, f"layer_{number}"), config=config)
    pooled = np.tanh(dense(x[:, 0], weights, "pooler"))
    chosen = norm(gelu(dense(gather_positions(x, positions), weights, "mlm/dense")), weights, "mlm/norm")
    logits = chosen @ weights["embeddings/token"].T + weights["mlm/bias"]
    return logits.astype("float32"), dense(pooled, weights, "nsp").astype("float32")


def model_weights(rng: Random, config: dict) -> dict[str, np.ndarray]:
    return {
        role: (1 + normal(rng, *shape, size=0.2)).astype("float32")
        if role.endswith("gamma")
        else normal(rng, *shape, size=0.4 if len(shape) > 1 else 0.2)
        for role, shape in weight_shapes(config).items()
    }


def model_case(rng: Random, rows: int, tokens: int, predictions: int, padded: bool) -> Case:
    arguments = rows_of_tokens(rng, rows, tokens, predictions, padded, SIZES["vocab_size"])
    return Case(arguments, {}, model_weights(rng, SIZES), SIZES)


def inputs_of_model(rng: Random) -> list[Case]:
    return [model_case(rng, 3, 5, 2, padded=False)]


def padded_inputs(rng: Random) -> list[Case]:
    return [model_case(rng, 3, 6, 2, padded=True)]


EXERCISE = Exercise(
    probe=layer(MODEL_ROLES),
    reference=pretraining_model,
    returns="tuple",
    parts=(
        values(4, inputs_of_model),
        cases("padding", 1, padded_inputs, "with padding in a sequence the result is different"),
    ),
    forbidden=Forbidden("In this exercise you assemble your own layers.", ("bertlab.models", "bertlab.layers")),
    hints=(
        "Three parts in `__init__`: `self.bert`, `self.mlm`, `self.nsp`. In `call` each is used once.",
        "`self.bert(…)` returns two tensors. The vectors of all tokens go to one head, the pooled [CLS] to the other.",
        "The MLM head gets the vectors at `positions` only, and the table of the token embeddings: the weights are "
        "tied.",
    ),
    misconceptions=(
        mistake("pooler-passed-over", "self.nsp(pooled)", "self.nsp(hidden[:, 0])",
            hint="Your next-sentence head reads the [CLS] vector of the encoder. BERT's reads the output of the "
                 "pooler: the second result of `self.bert`."),
        mistake("guesses-everywhere", "gather_positions(hidden, positions)", "hidden",
            hint="Your MLM head works on every token. Only those at `positions` are predicted: use "
                 "`gather_positions` first."),
        mistake("segments-lost",
            "self.bert(token_ids, token_type_ids,", "self.bert(token_ids, ops.zeros_like(token_type_ids),",
            hint="You do not pass the segments to BERT: all tokens count as sentence A."),
        mistake("padding-visible",
            "attention_mask, training=training)", "ops.ones_like(attention_mask), training=training)",
            hint="You do not pass the mask to BERT, so the tokens attend to the padding too."),
        mistake("heads-exchanged", "return logits, self.nsp(pooled)", "return self.nsp(pooled), logits",
            hint="The two results are in the wrong order: first the MLM logits, then the next-sentence logits."),
    ),
)  # fmt: skip
