"""An encoder layer in the order of GPT-2 (pre-LN), with the same parts as `EncoderLayer`."""

from dataclasses import replace

import numpy as np

from autograde.boundary import roles
from autograde.exercises.n04_encoder_layer._shared import (
    ADDED,
    BOTH_NORMS,
    LIBRARY,
    any_layers,
    any_masked_layers,
    inputs_of_layer,
    layer_case,
    mask_in_training,
    masks_of_layer,
    nothing_to_add,
    shown_by_one_unit,
    silenced,
    slopes,
)
from autograde.exercises.numpy_bert import below, feed_forward, multi_head_attention, norm
from autograde.exercises.writing import Case, Dropped, Exercise, Part, Random, Reference, Trial, layer, mistake, normal


def pre_norm_layer(x, attention_mask=None, training=None, *, weights, config):
    normed = norm(x, weights, "attention_norm")
    middle = x + multi_head_attention(normed, attention_mask, weights=below(weights, "attention"), config=config)
    normed = norm(middle, weights, "output_norm")
    return middle + feed_forward(normed, weights=below(weights, "feed_forward"))


def dropped_by_layer(rng: Random) -> list[Trial]:
    """Trials with x = 0 and one sub-layer that returns zeros: the result is the other's result after dropout.

    If both return zeros, nothing changes: neither x nor a sum is dropped. Nothing is dropped inside the network. If
    both return ones, each is dropped by itself.
    """
    case = layer_case(rng, np.zeros((6, 10, 8), "float32"), training=True)
    seldom = layer_case(rng, np.zeros((6, 10, 8), "float32"), dropout={"dropout": 0.2}, training=True)
    one_unit = layer_case(rng, np.zeros((6, 10, 16), "float32"), inner=1, dropout={"dropout": 0.4}, training=True)
    nothing = nothing_to_add(layer_case(rng, normal(rng, 2, 4, 8), training=True), BOTH_NORMS)
    shown = ((case, "attention"), (case, "feed_forward"), (seldom, "feed_forward"))
    silent = {"attention": "feed_forward", "feed_forward": "attention"}
    return [
        Trial((silenced(case, silent[part]),), (Dropped(case.config["dropout"], of=ADDED[part]),))
        for case, part in shown
    ] + [
        Trial((shown_by_one_unit(one_unit),), (Dropped(0.4, of=ADDED["feed_forward"]),)),
        Trial((nothing,)),
        both_dropped(case),
    ]


def both_dropped(case: Case) -> Trial:
    """With x below 0 and sub-layers that return ones, a number is negative only where dropout has made both 0."""
    ones = ("attention/out/bias", "feed_forward/outer/bias")
    weights = {role: np.full_like(array, role in ones) for role, array in case.weights.items()}
    x, rate = np.full_like(case.arguments[0], -0.5), case.config["dropout"]
    of = "that attention and the network together add to x"
    return Trial((replace(case, arguments=(x,), weights=weights),), (Dropped(rate**2, signs=True, of=of),))


def inputs_and_masks(rng: Random) -> list[Trial]:
    first, *others = inputs_of_layer(rng) + masks_of_layer(rng) + [mask_in_training(rng)]
    return [Trial((first,), (Reference(), slopes(rng, first))), *(Trial((case,)) for case in others)]


EXERCISE = Exercise(
    probe=layer(roles.ENCODER_LAYER),
    reference=pre_norm_layer,
    in_graph=True,
    slow_draws=True,
    parts=(
        Part("values", 2, inputs_and_masks,
            hidden=lambda rng: [Trial((case,)) for case in any_layers(rng) + any_masked_layers(rng)]),
        Part("dropout", 1, dropped_by_layer,
            "in training x must get the result of each sub-layer after dropout"),
    ),
    forbidden=LIBRARY,
    hints=(
        "Start from your EncoderLayer's call. Only the positions of the two LayerNorms change.",
        "Apply LayerNorm to the input of each sub-layer: sub-layer(norm(x)).",
        "Only ever add to x itself; never assign a normalised value to it.",
    ),
    misconceptions=(
        mistake("norms-exchanged",
            "self.attention(self.attention_norm(x)", "self.attention(self.output_norm(x)",
            "self.feed_forward(self.output_norm(x))", "self.feed_forward(self.attention_norm(x))",
            hint="You exchanged the two norms: attention_norm belongs in front of attention, output_norm in front of "
                 "the network."),
        mistake("post-norm",
            "self.attention(self.attention_norm(x),", "self.attention(x,",
            "x = x + self.dropout(attended, training=training)",
            "x = self.attention_norm(x + self.dropout(attended, training=training))",
            "self.feed_forward(self.output_norm(x))", "self.feed_forward(x)",
            "return x + self.dropout(transformed, training=training)",
            "return self.output_norm(x + self.dropout(transformed, training=training))",
            hint="This is post-LN, as in 4.9: you normalise the sums. Here normalise the input of each sub-layer."),
        mistake("stream-normalised",
            "attended = self.attention(self.attention_norm(x),",
            "x = self.attention_norm(x)\n        attended = self.attention(x,",
            "transformed = self.feed_forward(self.output_norm(x))",
            "x = self.output_norm(x)\n        transformed = self.feed_forward(x)",
            hint="You overwrite x with its normalised form and add to that. Keep x as it was; only the sub-layer "
                 "reads the normalised one."),
        mistake("finds-normalised",
            "self.attention(self.attention_norm(x),", "self.attention(x,",
            "x = x + self.dropout(attended,", "x = x + self.dropout(self.attention_norm(attended),",
            "self.feed_forward(self.output_norm(x))", "self.feed_forward(x)",
            "x + self.dropout(transformed,", "x + self.dropout(self.output_norm(transformed),",
            hint="You normalise the result of each sub-layer. Normalise its *input*."),
        mistake("one-norm-for-both",
            "self.feed_forward(self.output_norm(x))", "self.feed_forward(self.attention_norm(x))",
            hint="attention_norm normalises for the network too. Use output_norm, with its own γ and β, for the "
                 "network."),
        mistake("network-reads-the-stream", "self.feed_forward(self.output_norm(x))", "self.feed_forward(x)",
            hint="The network reads x without normalisation. Apply a LayerNorm before each of the two sub-layers."),
        mistake("mask-not-passed",
            "self.attention(self.attention_norm(x), attention_mask=attention_mask)",
            "self.attention(self.attention_norm(x))",
            hint="The mask has no effect: pass it to attention."),
        mistake("no-dropout",
            "self.dropout(attended, training=training)", "attended",
            "self.dropout(transformed, training=training)", "transformed",
            hint="Nothing is dropped in training: apply dropout to the result of each sub-layer before it is added."),
    ),
)  # fmt: skip
