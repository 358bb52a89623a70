"""The encoder–decoder of 2017."""

from dataclasses import replace

import numpy as np

from autograde.boundary import roles
from autograde.exercises.draws import Random, normal
from autograde.exercises.n13_decoder._shared import (
    WRITE_IT,
    decoder_layer,
    encoder_layer,
    layer_weights,
    silenced,
)
from autograde.exercises.numpy_bert import below
from autograde.exercises.spec import Varies
from autograde.exercises.writing import (
    Case,
    Exercise,
    HandsOn,
    OwnWeights,
    Part,
    Same,
    Slopes,
    Trial,
    cases,
    layer,
    mistake,
)

STACKS = {"encoder": roles.ENCODER_LAYER, "decoder": roles.DECODER_LAYER}


def positions(tokens: int, hidden: int) -> np.ndarray:
    angles = np.arange(tokens)[:, None] / 10000 ** (np.arange(0, hidden, 2) / hidden)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(tokens, hidden)


def transformer(source, target, training=None, *, weights, config):
    """Without dropout, also in training. weights: those of a stack's layers side by side along the last axis."""
    hidden, layers = config["hidden_size"], config["num_layers"]

    def of_layer(stack, number):
        return {role: np.split(array, layers, axis=-1)[number] for role, array in below(weights, stack).items()}

    h, x = (weights["token"][ids] * np.sqrt(hidden) + positions(ids.shape[1], hidden) for ids in (source, target))
    mask = (source != 0)[:, None, :]
    for number in range(layers):
        h = encoder_layer(h, mask, weights=of_layer("encoder", number), config=config)
    for number in range(layers):
        x = decoder_layer(x, h, mask, weights=of_layer("decoder", number), config=config)
    return x @ weights["token"].T


def model_case(rng: Random, source, target, hidden=8, layers=1, heads=2, inner=6, vocabulary=11, **more) -> Case:
    """more: dropout, None for the constructor's own, and keywords of the call."""
    sizes = dict(vocab_size=vocabulary, hidden_size=hidden, num_layers=layers, num_heads=heads, intermediate_size=inner)
    dropout = more.pop("dropout", 0.5)
    config = sizes | ({} if dropout is None else {"dropout": dropout})
    weights = {"token": normal(rng, vocabulary, hidden, size=hidden**-0.5)}
    for stack, names in STACKS.items():
        each = [layer_weights(rng, names, hidden, inner) for _ in range(layers)]
        weights |= {f"{stack}/{role}": np.concatenate([one[role] for one in each], axis=-1) for role in each[0]}
    return Case((source, target), more, weights, config)


def ids(rng: Random, rows: int, tokens: int, lengths=None) -> np.ndarray:
    """Ids from 1 on, with 0 behind the given lengths."""
    drawn = rng.integers(1, 11, (rows, tokens)).astype("int32")
    return (
        drawn if lengths is None else np.where(np.arange(tokens) < np.array(lengths)[:, None], drawn, 0).astype("int32")
    )


def nothing_padded(rng: Random) -> list[Trial]:
    """Longer and shorter sources; one layer and three; one token; an earlier call with other lengths."""
    given = [
        model_case(rng, ids(rng, 2, 5), ids(rng, 2, 4), layers=2),
        model_case(rng, ids(rng, 3, 2), ids(rng, 3, 5), 12, 1, 3),
        model_case(rng, ids(rng, 2, 4), ids(rng, 2, 1), training=False),
        replace(model_case(rng, ids(rng, 2, 3), ids(rng, 2, 4)), first=(ids(rng, 1, 6), ids(rng, 1, 2))),
    ]  # fmt: skip
    named = Trial((model_case(rng, ids(rng, 1, 3), ids(rng, 1, 2)),), (HandsOn(), OwnWeights()))
    return [*(Trial((case,)) for case in given), named]


def padded(rng: Random) -> list[Case]:
    """Padding in sources, also inside; padding in targets, which hides nothing."""
    holes = ids(rng, 2, 5)
    holes[0, 1], holes[1, 3:] = 0, 0
    return [
        model_case(rng, ids(rng, 3, 6, [6, 3, 1]), ids(rng, 3, 5)),
        model_case(rng, holes, ids(rng, 2, 4, [2, 4])),
    ]


def no_later_token(rng: Random) -> list[Trial]:
    """The logits at a position do not change with later tokens of the target."""
    case = model_case(rng, ids(rng, 2, 4), ids(rng, 2, 5))
    source, target = case.arguments
    other = np.concatenate([target[:, :2], 1 + target[:, 2:] % 10], axis=1).astype("int32")
    pair = (case, replace(case, arguments=(source, other)))
    return [Trial(pair, (Same((0, 1, (0, 1)), (1, 1, (0, 1))),))]


def heard_from_the_encoder(case: Case) -> Case:
    """Only dropout in the encoder can change a logit.

    The encoder's network returns ones behind x = 0. LayerNorm makes 0 of them, and then cross-attention adds 0 to the
    target; with holes in the ones it does not.
    """
    case = silenced(case, "encoder/")
    ones = ("encoder/feed_forward/outer/bias", "encoder/output_norm/gamma")
    zeros = (
        "encoder/attention_norm/", "encoder/output_norm/beta", "decoder/attention/out/",
        "decoder/cross_attention/value/bias", "decoder/cross_attention/out/bias", "decoder/feed_forward/outer/",
    )  # fmt: skip
    weights = {role: 0 * a if role.startswith(zeros) else a for role, a in case.weights.items()}
    return replace(case, weights=weights | {role: np.ones_like(weights[role]) for role in ones})


def in_training(rng: Random) -> list[Trial]:
    """Dropout acts in both stacks, with the model's rate, and nowhere else; gradients reach table and stacks."""
    chance = replace(model_case(rng, ids(rng, 2, 4), ids(rng, 2, 3), training=True), seed=int(rng.integers(2**20)))
    usual = replace(model_case(rng, ids(rng, 2, 4), ids(rng, 2, 3), dropout=None, training=True), seed=chance.seed)
    no_chance = model_case(rng, ids(rng, 2, 4, [4, 2]), ids(rng, 2, 3), dropout=0.0, training=True)
    case = model_case(rng, ids(rng, 2, 3), ids(rng, 2, 3))
    trained = (
        "token",
        "encoder/attention/query/kernel",
        "decoder/cross_attention/key/kernel",
        "decoder/output_norm/gamma",
    )
    directions = {role: normal(rng, *case.weights[role].shape) for role in trained}
    return [
        *(Trial((silenced(one, "encoder/"),), (Varies(),)) for one in (chance, usual)),
        Trial((heard_from_the_encoder(chance),), (Varies(),)),
        Trial((silenced(silenced(chance, "encoder/"), "decoder/"),)),
        Trial((no_chance,)),
        Trial((case,), (Slopes(normal(rng, 2, 3, 11), directions),)),
    ]


EXERCISE = Exercise(
    probe=layer(roles.TRANSFORMER),
    reference=transformer,
    in_graph=True,
    slow_draws=True,
    parts=(
        Part("values", 2, nothing_padded,
            hidden=lambda rng: [Trial((model_case(rng, ids(rng, 2, 6), ids(rng, 2, 3), 12, 2, 3, 4),))]),
        cases("padding", 1, padded, "with padding the result is wrong: only the mask of the source hides anything",
            lambda rng: [model_case(rng, ids(rng, 3, 5, rng.integers(1, 6, 3)), ids(rng, 3, 4))]),
        Part("no later token", 1, no_later_token, "logits change with a later token of the target"),
        Part("training", 1, in_training,
            "in training dropout must act in the layers, with the rate `dropout`, and nowhere else, and gradients "
            "must reach the table and all layers"),
    ),
    forbidden=WRITE_IT,
    facts=lambda case: {"d": case.config["hidden_size"], "layers": case.config["num_layers"]},
    hints=(
        "Three steps: embed and encode the source, embed and decode the target, multiply with the table.",
        "The loop over the encoder layers ends before the loop over the decoder layers begins: all of these read the "
        "same h.",
        "`padding_mask(ops.cast(ops.not_equal(source, 0), \"int32\"))` is the mask; both loops need it. The logits "
        "are `ops.matmul(x, ops.transpose(self.token.embeddings))`.",
    ),
    misconceptions=(
        mistake("no-root", "self.token(ids) * self.hidden_size**0.5", "self.token(ids)",
            hint="The vectors of the tokens are not multiplied by √{d}, so the positions are louder than the words."),
        mistake("root-after-positions",
            "vectors = self.token(ids) * self.hidden_size**0.5", "vectors = self.token(ids)",
            "return vectors + sinusoids(ids.shape[1], self.hidden_size)",
            "return (vectors + sinusoids(ids.shape[1], self.hidden_size)) * self.hidden_size**0.5",
            hint="You multiply the positions by √{d}, too. Only the vectors of the tokens are: positions are added "
                 "after that."),
        mistake("no-positions-in-the-decoder",
            "x = self.embed(target)", "x = self.token(target) * self.hidden_size**0.5",
            hint="The target has no positions, so the decoder cannot know where in the sentence it is. Add them on "
                 "both sides."),
        mistake("no-positions", "return vectors + sinusoids(ids.shape[1], self.hidden_size)", "return vectors",
            hint="The sinusoids are missing: without them a sentence is a set of words."),
        mistake("layer-by-layer",
            "h = self.embed(source)\n        for layer in self.encoder_layers:\n            h = layer(h, "
            "attention_mask=mask, training=training)\n        return h, mask",
            "h, outputs = self.embed(source), []\n        for layer in self.encoder_layers:\n            h = "
            "layer(h, attention_mask=mask, training=training)\n            outputs.append(h)\n        return "
            "outputs, mask",
            "for layer in self.decoder_layers:\n            x = layer(x, h, source",
            "for layer, own in zip(self.decoder_layers, h):\n            x = layer(x, own, source",
            hint="Decoder layer i reads encoder layer i. All {layers} decoder layers read the *last* output of the "
                 "encoder."),
        mistake("mask-not-to-the-encoder", "layer(h, attention_mask=mask, training", "layer(h, training",
            hint="The encoder layers read the padding of the source: give them the mask, too."),
        mistake("mask-not-to-the-decoder", "layer(x, h, source_mask=source_mask, training", "layer(x, h, training",
            hint="Cross-attention reads the padding of the source: give the mask to the decoder layers, too."),
        mistake("probabilities", "return ops.matmul(x, ops.transpose(self.token.embeddings))",
            "return ops.softmax(ops.matmul(x, ops.transpose(self.token.embeddings)), axis=-1)",
            hint="You return probabilities. The loss and the decoding take logits, before the softmax."),
        mistake("encoder-not-in-training", "self.encode(source, training)", "self.encode(source)",
            hint="In training your encoder drops nothing: nobody tells it that this is training."),
        mistake("usual-dropout",
            "sizes = (num_heads, intermediate_size, dropout)", "sizes = (num_heads, intermediate_size)",
            hint="`dropout` has no effect, the layers use their own rate: pass it on."),
    ),
)  # fmt: skip
