"""One decoder layer of 2017: masked self-attention, cross-attention, network; each added and normalised."""

from dataclasses import replace

import numpy as np

from autograde.boundary import roles
from autograde.exercises.draws import Random, normal, some_seen
from autograde.exercises.n13_decoder._shared import (
    SUB_LAYERS,
    WRITE_IT,
    decoder_case,
    decoder_layer,
    dropped_by_signs,
    silenced,
)
from autograde.exercises.writing import (
    Exercise,
    HandsOn,
    OwnWeights,
    Part,
    Same,
    Slopes,
    Trial,
    at_drawn_sizes,
    cases,
    layer,
    mistake,
)


def inputs_of_layer(rng: Random) -> list[Trial]:
    """Longer and shorter sources, one of equal length, one token on either side; an earlier call with other lengths."""
    given = [
        decoder_case(rng), decoder_case(rng, 3, 5, 2, 8, training=False), decoder_case(rng, 1, 4, 4, heads=3, inner=5),
        decoder_case(rng, 2, 1, 3), decoder_case(rng, 2, 3, 1),
        replace(decoder_case(rng), first=decoder_case(rng, 1, 2, 3).arguments),
    ]  # fmt: skip
    named = Trial((decoder_case(rng, 1, 2, 3),), (HandsOn(dtype="float64"), OwnWeights()))
    return [*(Trial((case,)) for case in given), named]


def no_later_token(rng: Random) -> list[Trial]:
    """Other tokens at the end of a target leave the results before them as they are; the source is seen as a whole."""
    case = decoder_case(rng, 2, 5, 4)
    x, h = case.arguments
    other = x.copy()
    other[:, 3:] = normal(rng, 2, 2, x.shape[2])
    pair = (case, replace(case, arguments=(other, h)))
    longer = replace(case, arguments=(x[:, :2], h))
    return [
        Trial(pair, (Same((0, 1, (0, 1, 2)), (1, 1, (0, 1, 2))),)),
        Trial((case, longer), (Same((0, 1, (0, 1)), (1, 1, (0, 1))),)),
    ]


def masked_sources(rng: Random) -> list:
    """Padding of the source, also in training with a rate of 0."""
    first = decoder_case(rng, mask=some_seen(rng, 2, 1, 5))
    return [first, decoder_case(rng, mask=some_seen(rng, 2, 1, 5), dropout={"dropout": 0.0}, training=True)]


def chance_in_training(rng: Random) -> list[Trial]:
    """Dropout of the given rate, or of the usual 0.1, acts on the result of each sub-layer, and not on the sums: if all
    results are zeros, it has no effect."""
    given, usual = (
        decoder_case(rng, 6, 10, 3, 32, inner=5, dropout=dropout, training=True) for dropout in ({"dropout": 0.4}, {})
    )
    return [
        *(dropped_by_signs(given, part, 0.4) for part in SUB_LAYERS),
        dropped_by_signs(usual, "cross_attention", 0.1),
        Trial((silenced(decoder_case(rng, training=True)),)),
    ]


def slopes_of_layer(rng: Random) -> list[Trial]:
    case = decoder_case(rng, 1, 3, 4)
    roles = ("attention/query/kernel", "cross_attention/key/kernel", "cross_norm/gamma", "feed_forward/inner/kernel")
    directions = {role: normal(rng, *case.weights[role].shape) for role in roles}
    directions |= {index: normal(rng, *argument.shape) for index, argument in enumerate(case.arguments)}
    return [Trial((case,), (Slopes(normal(rng, *case.arguments[0].shape), directions),))]


def any_sizes(rng: Random, batch: int, tokens: int, source_tokens: int, heads: int, share: float | None = None):
    mask = None if share is None else np.asarray(rng.random((batch, 1, source_tokens)) < share)
    return decoder_case(rng, batch, tokens, source_tokens, 2 * heads, heads, 5, mask)


EXERCISE = Exercise(
    probe=layer(roles.DECODER_LAYER),
    reference=decoder_layer,
    in_graph=True,
    slow_draws=True,
    parts=(
        Part("values", 2, inputs_of_layer,
            hidden=lambda rng: [Trial((case,)) for case in at_drawn_sizes(any_sizes, 1, 2, 1, 1)(rng)]),
        Part("no later token", 1, no_later_token, "a result changes with a later token of the target"),
        cases("mask of the source", 1, masked_sources, "with padding in the source the result is wrong",
            at_drawn_sizes(lambda *sizes: any_sizes(*sizes, share=0.7), 1, 2, 2, 1)),
        Part("training", 1, lambda rng: [*chance_in_training(rng), *slopes_of_layer(rng)],
            "in training dropout must be applied to the result of each of the three sub-layers, and gradients must "
            "reach both inputs and all weights"),
    ),
    forbidden=WRITE_IT,
    facts=lambda case: {"tokens": case.arguments[0].shape[1], "source": case.arguments[1].shape[1]},
    hints=(
        "Three times the same line: x = norm(x + dropout(sub-layer)). Overwrite x each time.",
        "`causal_mask` returns (tokens, tokens); with `ops.expand_dims(…, axis=0)` it fits every sentence of the "
        "batch.",
        "self.attention(x, attention_mask=the causal mask), self.cross_attention(x, h, attention_mask=source_mask).",
    ),
    misconceptions=(
        mistake("no-causal-mask", "self.attention(x, attention_mask=not_later)", "self.attention(x)",
            hint="Self-attention has no mask: each token sees those that it has to predict. Give it the causal mask."),
        mistake("causal-on-the-source", "attention_mask=source_mask",
            "attention_mask=ops.arange(h.shape[1])[None, None, :] <= ops.arange(x.shape[1])[None, :, None]",
            hint="You use a causal mask in cross-attention: token t reads only t tokens of the source. The source is "
                 "there from the beginning; its own mask, `source_mask`, hides padding only."),
        mistake("cross-first",
            "attended = self.attention(x, attention_mask=not_later)\n        x = self.attention_norm(x + "
            "self.dropout(attended, training=training))\n        crossed = self.cross_attention(x, h, "
            "attention_mask=source_mask)\n        x = self.cross_norm(x + self.dropout(crossed, training=training))",
            "crossed = self.cross_attention(x, h, attention_mask=source_mask)\n        x = self.cross_norm(x + "
            "self.dropout(crossed, training=training))\n        attended = self.attention(x, "
            "attention_mask=not_later)\n        x = self.attention_norm(x + self.dropout(attended, "
            "training=training))",
            hint="Cross-attention comes first in your layer. A token looks at what has been written before it asks "
                 "the source."),
        mistake("bert-network", "ReluFeedForward(intermediate_size)", "FeedForward(intermediate_size)",
            hint="Your network has GELU, as in BERT. The Transformer of 2017 has ReLU: `ReluFeedForward`. (With GELU "
                 "the layer runs as well; it is another model.)"),
        mistake("one-norm-for-two", "x = self.cross_norm(x", "x = self.attention_norm(x",
            hint="attention_norm normalises twice, and cross_norm never. Each sub-layer has its own LayerNorm."),
        mistake("no-residual-around-cross", "self.cross_norm(x + self.dropout(crossed, training=training))",
            "self.cross_norm(self.dropout(crossed, training=training))",
            hint="The result of cross-attention replaces x, and what was written is lost. Add it to x."),
        mistake("residual-of-the-start",
            "        not_later = ", "        start = x\n        not_later = ",
            "self.cross_norm(x + self", "self.cross_norm(start + self",
            hint="The second addition uses the x that entered the layer. Add to the x behind self-attention."),
        mistake("pre-norm",
            "self.attention(x, attention_mask=not_later)",
            "self.attention(self.attention_norm(x), attention_mask=not_later)",
            "self.attention_norm(x + self.dropout(attended, training=training))",
            "x + self.dropout(attended, training=training)",
            "self.cross_attention(x, h", "self.cross_attention(self.cross_norm(x), h",
            "self.cross_norm(x + self.dropout(crossed, training=training))",
            "x + self.dropout(crossed, training=training)",
            "self.feed_forward(x)", "self.feed_forward(self.output_norm(x))",
            "return self.output_norm(x + self.dropout(transformed, training=training))",
            "return x + self.dropout(transformed, training=training)",
            hint="You normalise before each sub-layer: pre-LN, as in GPT-2. In 2017 each LayerNorm comes after an "
                 "addition."),
        mistake("source-mask-not-passed", "self.cross_attention(x, h, attention_mask=source_mask)",
            "self.cross_attention(x, h)",
            hint="The source's mask has no effect: give it to cross-attention."),
        mistake("cross-not-dropped", "x + self.dropout(crossed, training=training)", "x + crossed",
            hint="In training nothing of cross-attention's result is dropped: apply dropout to all three results."),
        mistake("sums-dropped",
            "x + self.dropout(attended, training=training)", "self.dropout(x + attended, training=training)",
            "x + self.dropout(crossed, training=training)", "self.dropout(x + crossed, training=training)",
            "x + self.dropout(transformed, training=training)", "self.dropout(x + transformed, training=training)",
            hint="In training you drop parts of the sums, so x itself gets holes. Dropout belongs to the result of "
                 "each sub-layer."),
        mistake("dropout-always",
            "self.dropout(transformed, training=training)", "self.dropout(transformed, training=True)",
            hint="Numbers are dropped outside training: pass on `training` unchanged."),
    ),
)  # fmt: skip
