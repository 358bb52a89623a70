"""Notebook 04, exercises 4.10 to 4.12: the encoder layer in both orders, and the stack."""

from autograde.exercises import n04_draws as draws
from autograde.exercises.n04_common import BUILD_IT, LAYER_ROLES, LIBRARY, MODULE, NOTEBOOK, STACK_ROLES
from autograde.exercises.spec import Exercise, Misconception, Part, cases, layer, values

ENCODER_LAYER = Exercise(
    id="encoder-layer",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="4.10",
    title="Lines 6 to 9: an encoder layer",
    minutes=15,
    lines="ETransformer, lines 6–9",
    names=("EncoderLayer",),
    arguments=("x",),
    probe=layer("EncoderLayer", LAYER_ROLES),
    reference=draws.encoder_layer,
    parts=(
        values(3, draws.inputs_of_layer),
        cases("mask", 1, draws.masked_layer, "with a mask the result is another"),
        Part(
            "dropout",
            1,
            draws.chance_in_training,
            "in training dropout must act on what attention finds and on what the network finds, and on nothing else",
        ),
        Part("gradients", 1, draws.slopes_of_layer, "the layer cannot be trained: its gradients are others, or none"),
    ),
    forbidden=LIBRARY,
    forbidden_because=BUILD_IT,
    hints=(
        "One line of Python for each of the lines 6 to 9, and x is overwritten in each of them.",
        "Line 6: what attention finds, through dropout, added to x. Line 8: the same with the network, on what line 7 "
        "left in x.",
        "There are two LayerNorms with weights of their own: attention_norm in line 7, output_norm in line 9.",
    ),
    misconceptions=(
        Misconception(
            "pre-norm",
            "You normalise before attention and before the network. That is pre-LN, the next exercise; in BERT each "
            "LayerNorm comes after an addition.",
            (
                ("self.attention(x, attention_mask", "self.attention(self.attention_norm(x), attention_mask"),
                ("        x = self.attention_norm(x)\n", ""),
                ("self.feed_forward(x)", "self.feed_forward(self.output_norm(x))"),
                ("return self.output_norm(x)", "return x"),
            ),
        ),
        Misconception(
            "no-residuals",
            "What attention and the network find takes the place of x. Lines 6 and 8 begin with X +.",
            (
                ("x = x + self.dropout(attended,", "x = self.dropout(attended,"),
                ("x = x + self.dropout(transformed,", "x = self.dropout(transformed,"),
            ),
        ),
        Misconception(
            "second-from-the-start",
            "The second addition goes back to the x that entered the layer. Line 8 adds to what line 7 made of it.",
            (
                ("        attended = self.attention(", "        start = x\n        attended = self.attention("),
                ("x = x + self.dropout(transformed,", "x = start + self.dropout(transformed,"),
            ),
        ),
        Misconception(
            "no-norm-between",
            "Line 7 is missing: after attention's addition x is normalised before the network reads it.",
            (("        x = self.attention_norm(x)\n", ""),),
        ),
        Misconception(
            "no-norm-at-the-end",
            "Line 9 is missing: the result is normalised once more, by output_norm.",
            (("return self.output_norm(x)", "return x"),),
        ),
        Misconception(
            "one-norm-for-both",
            "attention_norm normalises twice, and output_norm never. Each has a γ and a β of its own.",
            (("return self.output_norm(x)", "return self.attention_norm(x)"),),
        ),
        Misconception(
            "norm-before-adding",
            "You normalise what each sub-layer found and then add it. Lines 7 and 9 normalise the sum.",
            (
                (
                    "x = x + self.dropout(attended, training=training)\n        x = self.attention_norm(x)",
                    "x = x + self.attention_norm(self.dropout(attended, training=training))",
                ),
                (
                    "x = x + self.dropout(transformed, training=training)\n        return self.output_norm(x)",
                    "return x + self.output_norm(self.dropout(transformed, training=training))",
                ),
            ),
        ),
        Misconception(
            "mask-not-passed",
            "The mask has no effect: hand it on to attention.",
            (("self.attention(x, attention_mask=attention_mask)", "self.attention(x)"),),
        ),
        Misconception(
            "sum-dropped",
            "In training dropout acts on the sums, so the road itself is lost in places. It acts on what was found.",
            (
                ("x + self.dropout(attended, training=training)", "self.dropout(x + attended, training=training)"),
                (
                    "x + self.dropout(transformed, training=training)",
                    "self.dropout(x + transformed, training=training)",
                ),
            ),
        ),
        Misconception(
            "no-dropout",
            "Nothing is dropped in training: what each sub-layer found passes through dropout before it is added.",
            (
                ("self.dropout(attended, training=training)", "attended"),
                ("self.dropout(transformed, training=training)", "transformed"),
            ),
        ),
        Misconception(
            "dropout-once",
            "Dropout acts on what attention found, but not on what the network found. It belongs to both.",
            (("self.dropout(transformed, training=training)", "transformed"),),
        ),
        Misconception(
            "dropout-always",
            "Numbers are dropped although nobody is training: hand `training` on, as it comes.",
            (
                ("self.dropout(attended, training=training)", "self.dropout(attended, training=True)"),
                ("self.dropout(transformed, training=training)", "self.dropout(transformed, training=True)"),
            ),
        ),
    ),
)

PRE_NORM_LAYER = Exercise(
    id="pre-norm-layer",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="4.11",
    title="The other order: pre-LN",
    minutes=5,
    lines="",
    names=("PreNormEncoderLayer",),
    arguments=("x",),
    probe=layer("PreNormEncoderLayer", LAYER_ROLES),
    reference=draws.pre_norm_layer,
    parts=(
        values(2, draws.inputs_of_layer),
        Part(
            "dropout",
            1,
            draws.dropped_by_layer,
            "in training the stream must get what dropout leaves of each sub-layer's finds",
        ),
    ),
    forbidden=LIBRARY,
    forbidden_because=BUILD_IT,
    hints=(
        "Start from your EncoderLayer's call. Only the places of the two LayerNorms change.",
        "A LayerNorm stands inside the call of each sub-layer: sub-layer of norm of x.",
        "x itself is only ever added to; nothing that is normalised is assigned to it.",
    ),
    misconceptions=(
        Misconception(
            "post-norm",
            "This is post-LN, as in 4.10: you normalise the sums. Here what goes into each sub-layer is normalised.",
            (
                ("self.attention(self.attention_norm(x),", "self.attention(x,"),
                (
                    "x = x + self.dropout(attended, training=training)",
                    "x = self.attention_norm(x + self.dropout(attended, training=training))",
                ),
                ("self.feed_forward(self.output_norm(x))", "self.feed_forward(x)"),
                (
                    "return x + self.dropout(transformed, training=training)",
                    "return self.output_norm(x + self.dropout(transformed, training=training))",
                ),
            ),
        ),
        Misconception(
            "stream-normalised",
            "You overwrite x with its normalised form and add to that. The road keeps x as it was; only the sub-layer "
            "reads the normalised one.",
            (
                (
                    "attended = self.attention(self.attention_norm(x),",
                    "x = self.attention_norm(x)\n        attended = self.attention(x,",
                ),
                (
                    "transformed = self.feed_forward(self.output_norm(x))",
                    "x = self.output_norm(x)\n        transformed = self.feed_forward(x)",
                ),
            ),
        ),
        Misconception(
            "finds-normalised",
            "You normalise what each sub-layer found. What goes *into* it is to be normalised.",
            (
                ("self.attention(self.attention_norm(x),", "self.attention(x,"),
                ("x = x + self.dropout(attended,", "x = x + self.dropout(self.attention_norm(attended),"),
                ("self.feed_forward(self.output_norm(x))", "self.feed_forward(x)"),
                ("x + self.dropout(transformed,", "x + self.dropout(self.output_norm(transformed),"),
            ),
        ),
        Misconception(
            "one-norm-for-both",
            "attention_norm normalises for the network too. output_norm, with its own γ and β, is the network's.",
            (("self.feed_forward(self.output_norm(x))", "self.feed_forward(self.attention_norm(x))"),),
        ),
        Misconception(
            "network-reads-the-stream",
            "The network reads x as it is. Before each of the two sub-layers stands a LayerNorm.",
            (("self.feed_forward(self.output_norm(x))", "self.feed_forward(x)"),),
        ),
        Misconception(
            "no-dropout",
            "Nothing is dropped in training: what each sub-layer found passes through dropout before it is added.",
            (
                ("self.dropout(attended, training=training)", "attended"),
                ("self.dropout(transformed, training=training)", "transformed"),
            ),
        ),
    ),
)

ENCODER = Exercise(
    id="encoder",
    notebook=NOTEBOOK,
    kept_in=MODULE,
    number="4.12",
    title="The stack",
    minutes=5,
    lines="ETransformer, line 5",
    names=("Encoder",),
    arguments=("x",),
    probe=layer("Encoder", STACK_ROLES),
    reference=draws.encoder,
    parts=(
        values(2, draws.inputs_of_stack),
        cases("mask", 1, draws.masked_stack, "with a mask the result is another"),
    ),
    forbidden=LIBRARY,
    forbidden_because=BUILD_IT,
    facts=lambda case: {"layers": case.config["num_layers"]},
    hints=(
        "`__init__` makes the list of layers, `call` is a loop over it.",
        "What one layer returns is what the next is given; the mask is handed to every one.",
        "A list of num_layers *different* layers: a comprehension calls EncoderLayer(…) anew for each.",
    ),
    misconceptions=(
        Misconception(
            "one-layer-again",
            "Your list holds one and the same layer {layers} times, so all depths share their weights. (ALBERT does "
            "that on purpose: Lan et al. 2020.) In BERT each layer has its own: make {layers}.",
            (
                (
                    "[EncoderLayer(num_heads, intermediate_size, dropout) for _ in range(num_layers)]",
                    "[EncoderLayer(num_heads, intermediate_size, dropout)] * num_layers",
                ),
                (
                    "        for layer in self.layers_:\n            layer.build(x_shape)",
                    "        self.layers_[0].build(x_shape)",
                ),
            ),
        ),
        Misconception(
            "all-from-the-start",
            "Every layer reads what went into the stack, so only the last one counts. Each reads what the one before "
            "it returned.",
            (
                (
                    "            x = layer(x, attention_mask=attention_mask, training=training)\n        return x",
                    "            y = layer(x, attention_mask=attention_mask, training=training)\n        return y",
                ),
            ),
        ),
        Misconception(
            "residual-around-the-stack",
            "You add the stack's input to its output. The residual connections are within the layers already.",
            (
                (
                    "        for layer in self.layers_:\n            x = layer(",
                    "        start = x\n        for layer in self.layers_:\n            x = layer(",
                ),
                ("        return x", "        return start + x"),
            ),
        ),
        Misconception(
            "backwards",
            "The layers run from the last to the first. The one at index 0 reads the embeddings.",
            (
                (
                    "for layer in self.layers_:\n            x = layer(",
                    "for layer in reversed(self.layers_):\n            x = layer(",
                ),
            ),
        ),
        Misconception(
            "last-layer-forgotten",
            "One layer too few runs: all {layers} of the list, the last one too.",
            (
                (
                    "for layer in self.layers_:\n            x = layer(",
                    "for layer in self.layers_[:-1]:\n            x = layer(",
                ),
            ),
        ),
        Misconception(
            "mask-not-passed",
            "The mask has no effect: hand it on to every layer.",
            (("attention_mask=attention_mask, training=training", "training=training"),),
        ),
        Misconception(
            "mask-only-at-first",
            "Only the first layer gets the mask. Padding is padding at every depth: hand it on to all.",
            (
                (
                    "            x = layer(x, attention_mask=attention_mask, training=training)",
                    "            x = layer(x, attention_mask=attention_mask, training=training)\n"
                    "            attention_mask = None",
                ),
            ),
        ),
    ),
)
