"""One encoder layer of BERT: attention and feed-forward network, each added and normalised (post-LN)."""

from autograde.exercises import roles
from autograde.exercises.draws import Random, normal, some_seen
from autograde.exercises.n04_encoder_layer._shared import LIBRARY, inputs_of_layer, layer_case, silenced
from autograde.exercises.numpy_bert import encoder_layer
from autograde.exercises.spec import Case, Exercise, Part, Slopes, Trial, Varies, cases, layer, mistake, values


def masked_layer(rng: Random) -> list[Case]:
    return [layer_case(rng, normal(rng, 2, 4, 6), mask=some_seen(rng, 2, 1, 4))]


def chance_in_training(rng: Random) -> list[Trial]:
    """What each sub-layer finds is left to chance; where both find nothing, nothing is."""
    case = layer_case(rng, normal(rng, 2, 4, 8), training=True)
    return [
        Trial((silenced(case, "feed_forward"),), (Varies(),)),
        Trial((silenced(case, "attention"),), (Varies(),)),
        Trial((silenced(case, "attention", "feed_forward"),)),
    ]


def slopes_of_layer(rng: Random) -> list[Trial]:
    case = layer_case(rng, normal(rng, 1, 4, 6))
    roles = ("attention/query/kernel", "attention_norm/gamma", "feed_forward/inner/kernel", "output_norm/beta")
    directions = {0: normal(rng, 1, 4, 6)} | {role: normal(rng, *case.weights[role].shape) for role in roles}
    return [Trial((case,), (Slopes(normal(rng, 1, 4, 6), directions),))]


EXERCISE = Exercise(
    probe=layer(roles.ENCODER_LAYER),
    reference=encoder_layer,
    parts=(
        values(3, inputs_of_layer),
        cases("mask", 1, masked_layer, "with a mask the result is another"),
        Part("dropout", 1, chance_in_training,
            "in training dropout must act on what attention finds and on what the network finds, and on nothing else"),
        Part("gradients", 1, slopes_of_layer, "the layer cannot be trained: its gradients are others, or none"),
    ),
    forbidden=LIBRARY,
    hints=(
        "One line of Python for each of the lines 6 to 9, and x is overwritten in each of them.",
        "Line 6: what attention finds, through dropout, added to x. Line 8: the same with the network, on what line 7 "
        "left in x.",
        "There are two LayerNorms with weights of their own: attention_norm in line 7, output_norm in line 9.",
    ),
    misconceptions=(
        mistake("pre-norm",
            "self.attention(x, attention_mask", "self.attention(self.attention_norm(x), attention_mask",
            "        x = self.attention_norm(x)\n", "",
            "self.feed_forward(x)", "self.feed_forward(self.output_norm(x))",
            "return self.output_norm(x)", "return x",
            hint="You normalise before attention and before the network. That is pre-LN, the next exercise; in BERT "
                 "each LayerNorm comes after an addition."),
        mistake("no-residuals",
            "x = x + self.dropout(attended,", "x = self.dropout(attended,",
            "x = x + self.dropout(transformed,", "x = self.dropout(transformed,",
            hint="What attention and the network find takes the place of x. Lines 6 and 8 begin with X +."),
        mistake("second-from-the-start",
            "        attended = self.attention(", "        start = x\n        attended = self.attention(",
            "x = x + self.dropout(transformed,", "x = start + self.dropout(transformed,",
            hint="The second addition goes back to the x that entered the layer. Line 8 adds to what line 7 made of "
                 "it."),
        mistake("no-norm-between", "        x = self.attention_norm(x)\n", "",
            hint="Line 7 is missing: after attention's addition x is normalised before the network reads it."),
        mistake("no-norm-at-the-end", "return self.output_norm(x)", "return x",
            hint="Line 9 is missing: the result is normalised once more, by output_norm."),
        mistake("one-norm-for-both", "return self.output_norm(x)", "return self.attention_norm(x)",
            hint="attention_norm normalises twice, and output_norm never. Each has a γ and a β of its own."),
        mistake("norm-before-adding",
            "x = x + self.dropout(attended, training=training)\n        x = self.attention_norm(x)",
            "x = x + self.attention_norm(self.dropout(attended, training=training))",
            "x = x + self.dropout(transformed, training=training)\n        return self.output_norm(x)",
            "return x + self.output_norm(self.dropout(transformed, training=training))",
            hint="You normalise what each sub-layer found and then add it. Lines 7 and 9 normalise the sum."),
        mistake("mask-not-passed", "self.attention(x, attention_mask=attention_mask)", "self.attention(x)",
            hint="The mask has no effect: hand it on to attention."),
        mistake("sum-dropped",
            "x + self.dropout(attended, training=training)", "self.dropout(x + attended, training=training)",
            "x + self.dropout(transformed, training=training)", "self.dropout(x + transformed, training=training)",
            hint="In training dropout acts on the sums, so the road itself is lost in places. It acts on what was "
                 "found."),
        mistake("no-dropout",
            "self.dropout(attended, training=training)", "attended",
            "self.dropout(transformed, training=training)", "transformed",
            hint="Nothing is dropped in training: what each sub-layer found passes through dropout before it is "
                 "added."),
        mistake("dropout-once", "self.dropout(transformed, training=training)", "transformed",
            hint="Dropout acts on what attention found, but not on what the network found. It belongs to both."),
        mistake("dropout-always",
            "self.dropout(attended, training=training)", "self.dropout(attended, training=True)",
            "self.dropout(transformed, training=training)", "self.dropout(transformed, training=True)",
            hint="Numbers are dropped although nobody is training: hand `training` on, as it comes."),
    ),
)  # fmt: skip
