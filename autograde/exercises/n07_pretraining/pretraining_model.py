"""BERT with its two pre-training heads."""

from dataclasses import replace

import numpy as np

from autograde.boundary.roles import model_roles, weight_shapes
from autograde.exercises.draws import Random, normal
from autograde.exercises.n07_pretraining._shared import rows_of_tokens
from autograde.exercises.n07_pretraining.gather_positions import gather_positions
from autograde.exercises.numpy_bert import below, dense, encoder_layer, gelu, norm
from autograde.exercises.spec import (
    Case,
    Exercise,
    Forbidden,
    OwnWeights,
    Part,
    Reference,
    Slopes,
    Trial,
    Varies,
    layer,
    mistake,
)

SIZES = {"vocab_size": 11, "hidden_size": 8, "num_layers": 1, "num_heads": 2, "intermediate_size": 12,
         "max_positions": 7, "dropout": 0.5}  # fmt: skip
MAX_LAYERS = 2
MODEL_ROLES = model_roles(MAX_LAYERS)


def pretraining_model(token_ids, token_type_ids, attention_mask, positions, training=None, *, weights, config):
    """BERT with both heads, without dropout: MLM logits (B, P, V) of the positions, NSP logits (B, 2)."""
    x = weights["embeddings/token"][token_ids] + weights["embeddings/segment"][token_type_ids]
    x = norm(x + weights["embeddings/position"][: token_ids.shape[1]], weights, "embeddings/norm")
    for number in range(config["num_layers"]):
        x = encoder_layer(x, attention_mask[:, None, :] > 0, weights=below(weights, f"layer_{number}"), config=config)
    pooled = np.tanh(dense(x[:, 0], weights, "pooler"))
    chosen = norm(gelu(dense(gather_positions(x, positions), weights, "mlm/dense")), weights, "mlm/norm")
    logits = chosen @ weights["embeddings/token"].T + weights["mlm/bias"]
    return logits, dense(pooled, weights, "nsp")


def model_weights(rng: Random, config: dict) -> dict[str, np.ndarray]:
    return {
        role: (1 + normal(rng, *shape, size=0.2)).astype("float32")
        if role.endswith("gamma")
        else normal(rng, *shape, size=0.4 if len(shape) > 1 else 0.2)
        for role, shape in weight_shapes(config).items()
    }


def model_case(rng: Random, rows: int, tokens: int, predictions: int, padded: bool, **config) -> Case:
    config = SIZES | config
    arguments = rows_of_tokens(rng, rows, tokens, predictions, padded, config["vocab_size"])
    weights = model_weights(rng, {"max_positions": 512} | config)
    return Case(arguments, {}, weights, config)


def inputs_of_model(rng: Random) -> list[Trial]:
    case = model_case(rng, 3, 6, 2, padded=False)
    trained = {
        0: ("embeddings/token", "mlm/dense/kernel"), 1: ("embeddings/token", "pooler/kernel", "nsp/kernel"),
    }  # fmt: skip
    shapes = (3, 2, SIZES["vocab_size"]), (3, 2)
    slopes = [
        Slopes(normal(rng, *shapes[item]), {role: normal(rng, *case.weights[role].shape) for role in roles}, item=item)
        for item, roles in trained.items()
    ]
    falling = model_case(rng, 2, 5, 3, padded=False, num_layers=MAX_LAYERS)
    *others, positions = falling.arguments
    falling = replace(falling, arguments=(*others, positions[:, ::-1].copy()))  # as padded ones are: 3, 4, 0
    return [Trial((case,)), Trial((falling,)), Trial((case,), (OwnWeights(), *slopes))]


def other_models(rng: Random) -> list[Trial]:
    return [Trial((model_case(rng, 2, 5, 3, False, vocab_size=9, hidden_size=6, num_heads=3, intermediate_size=4),))]


def padded_inputs(rng: Random) -> list[Trial]:
    """With padding; once with the default number of positions, 512."""
    case = model_case(rng, 2, 5, 1, padded=True)
    weights = case.weights | {"embeddings/position": normal(rng, 512, SIZES["hidden_size"], size=0.4)}
    sizes = {name: size for name, size in SIZES.items() if name != "max_positions"}
    return [Trial((model_case(rng, 3, 6, 2, padded=True),)), Trial((replace(case, weights=weights, config=sizes),))]


def dropout_without_effect(case: Case) -> Case:
    """The same call with weights that make the dropout in the embeddings and in the encoder invisible."""
    silent = ("embeddings/norm/", "layer_0/attention/out/", "layer_0/feed_forward/outer/")
    zeros = {role: np.zeros_like(array) for role, array in case.weights.items() if role.startswith(silent)}
    return replace(case, weights=case.weights | zeros)


def training_and_rate(rng: Random) -> list[Trial]:
    """In training the model's dropout acts on both results, and only inside of BERT; with the rate 0 it does not act;
    and the model hands on `trainable=False`."""
    case = replace(model_case(rng, 12, 6, 2, padded=False), keywords={"training": True}, seed=int(rng.integers(2**20)))
    by_default = replace(case, config={name: size for name, size in case.config.items() if name != "dropout"})
    no_chance = replace(case, config=case.config | {"dropout": 0.0, "trainable": False, "name": "mine"})
    return [
        Trial((case,), (Varies(item=0), Varies(item=1))), Trial((replace(case, keywords={"training": False}),)),
        Trial((dropout_without_effect(case),)), Trial((by_default,), (Varies(item=0),)),
        Trial((no_chance,), (Reference(), OwnWeights())),
    ]  # fmt: skip


EXERCISE = Exercise(
    probe=layer(MODEL_ROLES),
    reference=pretraining_model,
    returns="tuple",
    in_graph=True,
    unknown_batch=False,  # the run's batches are of one size, and 7.4 may rely on it
    slow_draws=True,
    parts=(
        Part("values", 3, inputs_of_model, hidden=other_models),
        Part("padding", 1, padded_inputs, "with padding in a sequence the result is wrong"),
        Part("training", 1, training_and_rate,
            "in training, dropout must act inside of `self.bert`, for both results, and nowhere else; and `dropout` "
            "and `trainable=False` must have an effect. (In one call the weights are such that dropout inside of "
            "`self.bert` does not change the result.)"),
    ),
    forbidden=Forbidden("In this exercise you assemble your own layers.", ("bertlab.layers.gather_positions",)),
    hints=(
        "Three parts in `__init__`: `self.bert`, `self.mlm_head`, `self.nsp_head`. In `call` each is used once.",
        "`self.bert(…)` returns two tensors. The vectors of all tokens go to one head, the pooled [CLS] to the other.",
        "The MLM head gets the vectors at `positions` only, and the table of the token embeddings: the weights are "
        "tied.",
    ),
    misconceptions=(
        mistake("table-not-trained", "table = self.bert.embeddings.token.embeddings",
            "table = ops.stop_gradient(self.bert.embeddings.token.embeddings)",
            hint="The table gets its gradient only from the embeddings, not from the MLM head. The weights are tied: "
                 "every token vector is trained from both sides. Do not stop the gradient of the table for the head."),
        mistake("training-not-passed", "attention_mask, training=training)", "attention_mask, training=False)",
            hint="`training` has no effect: pass it on to `self.bert`, which contains the dropout."),
        mistake("dropout-not-handed-on", "max_positions, dropout, name", "max_positions, name",
            hint="`dropout` has no effect: `Bert` keeps its own default rate. Pass `dropout` on to it."),
        mistake("positions-not-handed-on",
            "intermediate_size, max_positions, dropout,", "intermediate_size, dropout=dropout,",
            hint="`max_positions` has no effect: pass it on to `Bert`."),
        mistake("layers-for-heads", "hidden_size, num_layers, num_heads, intermediate_size, max_positions, dropout,",
            "hidden_size, num_heads, num_layers, intermediate_size, max_positions, dropout,",
            hint="You exchanged the numbers of layers and heads: `Bert` takes the number of layers first."),
        mistake("pooler-passed-over", "self.nsp_head(pooled)", "self.nsp_head(hidden[:, 0])",
            hint="Your next-sentence head reads the [CLS] vector of the encoder. BERT's reads the output of the "
                 "pooler: the second result of `self.bert`."),
        mistake("guesses-everywhere", "gather_positions(hidden, positions)", "hidden",
            hint="Your MLM head works on every token. Only those at `positions` are predicted: use "
                 "`gather_positions` first."),
        mistake("segments-lost",
            "self.bert(token_ids, token_type_ids,", "self.bert(token_ids, ops.zeros_like(token_type_ids),",
            hint="You do not pass the segments to BERT: all tokens count as sentence A."),
        mistake("mask-for-segments", "token_type_ids, attention_mask, training=training)",
            "attention_mask, token_type_ids, training=training)",
            hint="You exchanged two arguments of `self.bert`: first the ids, then the segments (`token_type_ids`), "
                 "then the mask."),
        mistake("padding-visible",
            "attention_mask, training=training)", "ops.ones_like(attention_mask), training=training)",
            hint="You do not pass the mask to BERT, so the tokens attend to the padding too."),
        mistake("heads-exchanged", "return logits, self.nsp_head(pooled)", "return self.nsp_head(pooled), logits",
            hint="The two results are in the wrong order: first the MLM logits, then the next-sentence logits."),
    ),
)  # fmt: skip
