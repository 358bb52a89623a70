"""One encoder layer of BERT: attention and feed-forward network, each added and normalised (post-LN)."""

from autograde.boundary import roles
from autograde.exercises.draws import Random, normal
from autograde.exercises.n04_encoder_layer._shared import (
    ADDED,
    LIBRARY,
    any_layers,
    any_masked_layers,
    dropped_by_signs,
    inputs_of_layer,
    layer_case,
    mask_in_training,
    masks_of_layer,
    nothing_to_add,
    shown_by_one_unit,
    slopes,
)
from autograde.exercises.numpy_bert import encoder_layer
from autograde.exercises.spec import Dropped, Exercise, HandsOn, OwnWeights, Part, Trial, cases, layer, mistake


def inputs_and_arguments(rng: Random) -> list[Trial]:
    named = Trial((layer_case(rng, normal(rng, 1, 2, 4)),), (HandsOn(dtype="float64"), OwnWeights()))
    return [*(Trial((case,)) for case in inputs_of_layer(rng)), named]


def chance_in_training(rng: Random) -> list[Trial]:
    """Dropout of the given rate, also 0 (under a mask), or of the usual 0.1, acts on the result of each sub-layer.

    If both return zeros, it has no effect: neither the sum nor what a sub-layer reads is dropped. Nothing is dropped
    inside the network.
    """
    given, usual = (
        layer_case(rng, normal(rng, 6, 10, 32), inner=5, dropout=dropout, training=True)
        for dropout in ({"dropout": 0.4}, {})
    )
    silent = nothing_to_add(layer_case(rng, normal(rng, 2, 4, 8), training=True))
    one_unit = layer_case(rng, normal(rng, 6, 10, 32), inner=1, dropout={"dropout": 0.4}, training=True)
    return [
        dropped_by_signs(given, "attention", 0.4),
        dropped_by_signs(given, "feed_forward", 0.4),
        Trial((shown_by_one_unit(one_unit),), (Dropped(0.4, signs=True, of=ADDED["feed_forward"]),)),
        dropped_by_signs(usual, "attention", 0.1),
        dropped_by_signs(usual, "feed_forward", 0.1),
        Trial((silent,)),
        Trial((mask_in_training(rng),)),
    ]


def slopes_of_layer(rng: Random) -> list[Trial]:
    case = layer_case(rng, normal(rng, 1, 4, 6))
    return [Trial((case,), (slopes(rng, case),))]


EXERCISE = Exercise(
    probe=layer(roles.ENCODER_LAYER),
    reference=encoder_layer,
    in_graph=True,
    slow_draws=True,
    parts=(
        Part("values", 3, inputs_and_arguments, hidden=lambda rng: [Trial((case,)) for case in any_layers(rng)]),
        cases("mask", 1, masks_of_layer, "with a mask the result is wrong", any_masked_layers),
        Part("dropout", 1, chance_in_training,
            "in training dropout must be applied to the results of attention and of the network, and to nothing else"),
        Part("gradients", 1, slopes_of_layer, "the layer cannot be trained: its gradients are wrong or missing"),
    ),
    forbidden=LIBRARY,
    hints=(
        "Write one line of Python for each of the lines 6 to 9, and overwrite x in each of them.",
        "Line 6: the result of attention, through dropout, added to x. Line 8: the same with the network, on the x "
        "of line 7.",
        "There are two LayerNorms with their own weights: attention_norm in line 7, output_norm in line 9.",
    ),
    misconceptions=(
        mistake("pre-norm",
            "self.attention(x, attention_mask", "self.attention(self.attention_norm(x), attention_mask",
            "        x = self.attention_norm(x)\n", "",
            "self.feed_forward(x)", "self.feed_forward(self.output_norm(x))",
            "return self.output_norm(x)", "return x",
            hint="You normalise before attention and before the network. That is pre-LN, the next exercise; in BERT "
                 "each LayerNorm comes after an addition."),
        mistake("keras-epsilon",
            "self.attention_norm = LayerNorm()", "self.attention_norm = keras.layers.LayerNormalization()",
            "self.output_norm = LayerNorm()", "self.output_norm = keras.layers.LayerNormalization()",
            hint="Right for large numbers, wrong for small ones: Keras's LayerNormalization has ε = 0.001, BERT's is "
                 "1e-12. Use your LayerNorm, or give the other one its ε."),
        mistake("no-residuals",
            "x = x + self.dropout(attended,", "x = self.dropout(attended,",
            "x = x + self.dropout(transformed,", "x = self.dropout(transformed,",
            hint="The results of attention and of the network replace x. Lines 6 and 8 begin with X +."),
        mistake("second-from-the-start",
            "        attended = self.attention(", "        start = x\n        attended = self.attention(",
            "x = x + self.dropout(transformed,", "x = start + self.dropout(transformed,",
            hint="The second addition uses the x that entered the layer. Line 8 adds to the x of line 7."),
        mistake("no-norm-between", "        x = self.attention_norm(x)\n", "",
            hint="Line 7 is missing: after the addition of attention, normalise x before the network reads it."),
        mistake("no-norm-at-the-end", "return self.output_norm(x)", "return x",
            hint="Line 9 is missing: normalise the result once more, with output_norm."),
        mistake("one-norm-for-both", "return self.output_norm(x)", "return self.attention_norm(x)",
            hint="attention_norm normalises twice, and output_norm never. Each has its own γ and β."),
        mistake("norm-before-adding",
            "x = x + self.dropout(attended, training=training)\n        x = self.attention_norm(x)",
            "x = x + self.attention_norm(self.dropout(attended, training=training))",
            "x = x + self.dropout(transformed, training=training)\n        return self.output_norm(x)",
            "return x + self.output_norm(self.dropout(transformed, training=training))",
            hint="You normalise the result of each sub-layer and then add it. Lines 7 and 9 normalise the sum."),
        mistake("mask-not-passed", "self.attention(x, attention_mask=attention_mask)", "self.attention(x)",
            hint="The mask has no effect: pass it to attention."),
        mistake("sum-dropped",
            "x + self.dropout(attended, training=training)", "self.dropout(x + attended, training=training)",
            "x + self.dropout(transformed, training=training)", "self.dropout(x + transformed, training=training)",
            hint="In training you apply dropout to the sums, so parts of the direct path are lost. Apply it to the "
                 "result of each sub-layer."),
        mistake("no-dropout",
            "self.dropout(attended, training=training)", "attended",
            "self.dropout(transformed, training=training)", "transformed",
            hint="Nothing is dropped in training: apply dropout to the result of each sub-layer before it is added."),
        mistake("dropout-once", "self.dropout(transformed, training=training)", "transformed",
            hint="You apply dropout to the result of attention, but not to that of the network. Apply it to both."),
        mistake("dropout-always",
            "self.dropout(attended, training=training)", "self.dropout(attended, training=True)",
            "self.dropout(transformed, training=training)", "self.dropout(transformed, training=True)",
            hint="Numbers are dropped outside training: pass on `training` unchanged."),
    ),
)  # fmt: skip
