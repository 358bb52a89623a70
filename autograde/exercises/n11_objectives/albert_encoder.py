"""ALBERT without its heads: narrow tables, one projection, and one layer that is passed several times."""

from dataclasses import replace

import numpy as np

from autograde.boundary import roles
from autograde.exercises.n04_encoder_layer._shared import layer_weights
from autograde.exercises.n05_bert._shared import dense_weights, norm_weights, slopes
from autograde.exercises.n11_objectives._shared import LIBRARY, texts
from autograde.exercises.numpy_bert import below, dense, encoder_layer, norm
from autograde.exercises.writing import (
    Case,
    Exercise,
    HandsOn,
    OwnWeights,
    Part,
    Random,
    Reference,
    Trial,
    layer,
    mistake,
    normal,
)
from autograde.judging.claims import Dropped, Varies

OF_LAYER = {role: [path for path in paths if ".out.*" not in path] for role, paths in roles.ENCODER_LAYER.items()}
ROLES = roles.inside("embeddings", roles.EMBEDDINGS) | roles.dense("projection") | roles.inside("layer", OF_LAYER)


def albert(token_ids, token_type_ids, attention_mask, training=None, *, weights, config):
    """Without dropout."""
    x = weights["embeddings/token"][token_ids] + weights["embeddings/segment"][token_type_ids]
    x = norm(x + weights["embeddings/position"][: token_ids.shape[1]], weights, "embeddings/norm")
    x = dense(x, weights, "projection")
    for _ in range(config["num_layers"]):
        x = encoder_layer(x, attention_mask[:, None, :] == 1, weights=below(weights, "layer"), config=config)
    return x


def albert_case(rng: Random, real, narrow: int = 4, hidden: int = 6, layers: int = 3, training=None, **config) -> Case:
    """narrow: E, the width of the tables."""
    rows, tokens = real.shape
    config = {
        "vocab_size": 9, "embedding_size": narrow, "hidden_size": hidden, "num_layers": layers, "num_heads": 2,
        "intermediate_size": 5, "max_positions": 7,
    } | config  # fmt: skip
    weights = {f"embeddings/{table}": normal(rng, size, narrow) for table, size in
               (("token", 9), ("position", config["max_positions"]), ("segment", 2))}  # fmt: skip
    weights |= norm_weights(rng, "embeddings/norm", narrow) | dense_weights(rng, "projection", narrow, hidden)
    weights |= {f"layer/{role}": array for role, array in layer_weights(rng, hidden, 5).items()}
    weights["layer/attention/out/kernel"] *= np.float32(0.3)  # or all tokens become alike after some passes
    segments = (np.arange(tokens) >= tokens // 2) + np.zeros((rows, 1), "int32")
    ids = texts(rng, rows, tokens, 9)[0]
    keywords = {} if training is None else {"training": training}
    return Case((ids, segments.astype("int32"), real), keywords, weights, config, seed=11)


def whole_texts(rng: Random) -> list[Trial]:
    """Narrower and wider tables than the layer; one pass; another call before; gradients."""
    ones = np.ones((2, 5), "int32")
    case = albert_case(rng, ones)
    wide = albert_case(rng, ones, 8, 4, 1)
    after = replace(albert_case(rng, ones, training=False), first=tuple(array[:1, :3] for array in case.arguments))
    inside = ("embeddings/token", "projection/kernel", "layer/attention/value/kernel", "layer/output_norm/gamma")
    trained = Trial((case,), (Reference(), slopes(rng, case, *inside, result=(2, 5, 6))))
    return [trained, *(Trial((one,)) for one in (wide, after)), Trial((wide,), (OwnWeights(), HandsOn()))]


def other_widths(rng: Random) -> list[Trial]:
    return [Trial((albert_case(rng, np.ones((3, 4), "int32"), 3, 8, 5),))]


def padded_texts(rng: Random) -> list[Trial]:
    return [Trial((albert_case(rng, texts(rng, 3, 6, 9)[1], layers=layers),)) for layers in (1, 4)]


def dropped_in_the_last_pass(rng: Random) -> Trial:
    """The network adds a large number to zeros, in each pass: a result is negative where the last pass dropped it."""
    real = np.ones((6, 10), "int32")
    case = albert_case(rng, real, hidden=32, layers=2, training=True, max_positions=10, dropout=0.2)
    weights = {role: 0 * array if role.startswith("layer/") else array for role, array in case.weights.items()}
    weights["layer/feed_forward/outer/bias"] += 1000
    weights["layer/output_norm/gamma"] += 1
    return Trial((replace(case, weights=weights),), (Dropped(0.2, signs=True, of="that the network adds to x"),))


def chance_in_training(rng: Random) -> list[Trial]:
    """With the rate 0, the usual one, nothing is dropped in the layer or before it; with another one in both, and in
    every pass."""
    ones = np.ones((2, 5), "int32")
    usual, dropped = (albert_case(rng, ones, training=True, **more) for more in ({}, {"dropout": 0.5}))
    in_layer, before = ("projection/kernel",), ("layer/attention/out/", "layer/feed_forward/outer/")

    def seen(case: Case, silent: tuple[str, ...]) -> Case:
        """The same call with zeros where they make dropout invisible in the other part."""
        return replace(case, weights={r: 0 * a if r.startswith(silent) else a for r, a in case.weights.items()})

    return [
        *(Trial((seen(usual, silent),), (Reference(),)) for silent in (in_layer, before)),
        *(Trial((seen(dropped, silent),), (Varies(),)) for silent in (in_layer, before)),
        dropped_in_the_last_pass(rng),
        Trial((replace(dropped, keywords={"training": False}),)),
    ]


EXERCISE = Exercise(
    probe=layer(ROLES),
    reference=albert,
    in_graph=True,
    slow_draws=True,
    parts=(
        Part("values", 3, whole_texts, hidden=other_widths),
        Part("padding", 1, padded_texts, "with padding the result is wrong: hide it in every pass"),
        Part("dropout", 1, chance_in_training, "in training dropout must act in the embeddings and in the layer with "
            "the rate `dropout`, which is 0 if it is not given, and outside of training nowhere"),
    ),
    forbidden=LIBRARY,
    facts=lambda case: {"layers": case.config["num_layers"]},
    hints=(
        "Three parts: `BertEmbeddings` of width E, a Dense from E to H, one `EncoderLayer`.",
        "`call`: embeddings, projection, then the loop: num_layers times the *same* layer, each time on its last "
        "result.",
        "`padding_mask(attention_mask)` once, before the loop; pass it and `training` on in every pass.",
    ),
    misconceptions=(
        mistake("passed-once", "range(self.num_layers)", "range(1)",
            hint="This is the result of one pass. ALBERT shares the weights, not the work: pass the layer {layers} "
                 "times, each time on its last result."),
        mistake("once-too-often", "range(self.num_layers)", "range(self.num_layers + 1)",
            hint="One pass too many: num_layers passes in all, {layers} here."),
        mistake("mask-not-passed", "attention_mask=seen, training=training", "training=training",
            hint="The layer does not get the mask: padding is read like text."),
        mistake("mask-in-the-first-pass", "training=training)\n        return x",
            "training=training)\n            seen = None\n        return x",
            hint="Only the first pass hides the padding. Pass the mask on in every pass."),
        mistake("segments-left-out", "token_type_ids, training", "ops.zeros_like(token_ids), training",
            hint="Every token counts as segment A: pass `token_type_ids` to the embeddings."),
        mistake("training-not-passed", "seen, training=training", "seen, training=False",
            hint="The layer does not get `training`: its dropout never acts."),
        mistake("default-dropout", "EncoderLayer(num_heads, intermediate_size, dropout)",
            "EncoderLayer(num_heads, intermediate_size)",
            hint="`dropout` does not reach the layer, which then has its own 0.1. ALBERT's rate is 0: pass it on."),
        mistake("dropout-of-the-embeddings", "max_positions, dropout=dropout", "max_positions",
            hint="`dropout` does not reach the embeddings, which then have their own 0.1. Pass it on."),
        mistake("activation-between", "self.projection(self.embeddings(", "ops.gelu(self.projection(self.embeddings(",
            "training=training))\n        for", "training=training)))\n        for",
            hint="There is an activation behind your projection. ALBERT's is linear: it only widens the vectors."),
    ),
)  # fmt: skip
