"""BERT without its pre-training heads."""

from dataclasses import replace

import numpy as np

from autograde.boundary import roles
from autograde.exercises.draws import Random, normal
from autograde.exercises.n05_bert._shared import (
    WHOLE_BERT,
    dense_weights,
    encoder_weights,
    norm_weights,
    silenced,
    slopes,
    token_ids,
)
from autograde.exercises.numpy_bert import below, dense, encoder, norm
from autograde.exercises.spec import (
    Case,
    Exercise,
    HandsOn,
    OwnWeights,
    Part,
    Reference,
    Slopes,
    Trial,
    Varies,
    layer,
    mistake,
)

NEARLY_ONE = 1 - 2**-24  # a rate of dropout that leaves nothing: no float32 below 1 is larger


def bert(token_ids, token_type_ids, attention_mask, training=None, *, weights, config):
    """Without dropout, also in training; only a rate of nearly 1 acts there."""
    if training and config.get("dropout") == NEARLY_ONE:
        weights = silenced(weights, "embeddings", "encoder")
    x = weights["embeddings/token"][token_ids] + weights["embeddings/segment"][token_type_ids]
    x = x + weights["embeddings/position"][: token_ids.shape[1]]
    x = norm(x, weights, "embeddings/norm")
    may_be_seen = (attention_mask == 1)[:, None, :]
    hidden = encoder(x, may_be_seen, weights=below(weights, "layers"), config=config)
    pooled = np.tanh(dense(hidden[:, 0], weights, "pooler/dense"))
    return hidden, pooled


def bert_case(rng: Random, ids, segments, is_real, **config) -> Case:
    config = {
        "vocab_size": 9, "hidden_size": 8, "num_layers": 2, "num_heads": 4, "intermediate_size": 5, "max_positions": 6,
        "dropout": 0.5,
    } | config  # fmt: skip
    max_positions = config["max_positions"]
    if max_positions == 512:
        del config["max_positions"]  # the default
    if config["dropout"] == 0.1:
        del config["dropout"]  # the default
    hidden = config["hidden_size"]
    weights = {
        "embeddings/token": normal(rng, config["vocab_size"], hidden),
        "embeddings/position": normal(rng, max_positions, hidden),
        "embeddings/segment": normal(rng, 2, hidden),
    }
    weights |= norm_weights(rng, "embeddings/norm", hidden)
    weights |= encoder_weights(rng, config["num_layers"], hidden, config["intermediate_size"])
    weights |= dense_weights(rng, "pooler/dense", hidden, hidden)
    return Case((ids, segments, is_real), {}, weights, config)


def real_tokens(lengths, tokens: int) -> np.ndarray:
    return (np.arange(tokens) < np.array(lengths)[:, None]).astype("int32")


def second_half(rng: Random, rows: int, tokens: int) -> np.ndarray:
    """Segments: A, then B, which begins at another token in each row."""
    return (np.arange(tokens) >= rng.integers(2, 4, (rows, 1))).astype("int32")


def whole_texts(rng: Random, tokens: int = 6, **config) -> Case:
    """Three texts without padding."""
    ones = np.ones((3, tokens), "int32")
    return bert_case(rng, token_ids(rng, 3, tokens), second_half(rng, 3, tokens), ones, **config)


def nothing_padded(rng: Random) -> list[Trial]:
    """Also after a call with fewer and shorter texts."""
    case = whole_texts(rng)
    short, earlier = whole_texts(rng, num_layers=1), whole_texts(rng).arguments
    after = replace(short, first=tuple(array[:2, :4] for array in earlier))
    return [Trial((case,)), Trial((case,), (OwnWeights(),)), Trial((after,))]


def wider_models(rng: Random) -> list[Trial]:
    return [Trial((whole_texts(rng, 5, hidden_size=12, num_heads=2, num_layers=3, max_positions=5),))]


def padded_ids(rng: Random, rows: int, is_real: np.ndarray) -> np.ndarray:
    """Ids whose padding is not 0, and whose texts hold a 0: only the mask tells what is padding."""
    ids = token_ids(rng, rows, is_real.shape[1])
    ids[is_real == 0] = rng.integers(1, 9, int((is_real == 0).sum()))
    ids[:, 0] = 0
    return ids


def padded_texts(rng: Random) -> list[Trial]:
    """Pairs of several lengths, and texts of mostly padding; the table of positions once with its default size.
    Padding before a text and inside it."""
    lengths, short = real_tokens([6, 4, 5], 6), real_tokens([1, 2], 6)
    return [
        Trial((bert_case(rng, padded_ids(rng, 3, lengths), second_half(rng, 3, 6), lengths),)),
        Trial((bert_case(rng, padded_ids(rng, 2, short), np.zeros((2, 6), "int32"), short, hidden_size=6, num_heads=3,
                         num_layers=1, max_positions=512),)),
        Trial((padded_text(rng, [[0, 0, 1, 1, 1], [1, 0, 1, 0, 1]]),)),
    ]  # fmt: skip


def padded_text(rng: Random, is_real: list[list[int]], **config) -> Case:
    """Texts with padding wherever `is_real` has a 0, for one layer."""
    is_real = np.array(is_real, "int32")
    rows, tokens = is_real.shape
    segments = second_half(rng, rows, tokens)
    return bert_case(rng, padded_ids(rng, rows, is_real), segments, is_real, num_layers=1, **config)


def more_padding_in_front(rng: Random) -> list[Trial]:
    return [Trial((padded_text(rng, [[1, 0, 0, 1, 0, 1], [0, 1, 1, 1, 1, 0], [0, 0, 0, 0, 1, 1]]),))]


def without_effect(case: Case, *parts: str) -> Case:
    """The same call with weights that make dropout invisible in some parts."""
    return replace(case, weights=silenced(case.weights, *parts))


def chance_in_training(rng: Random) -> list[Trial]:
    """In training dropout acts in the embeddings and in the encoder, each with the model's rate, and nowhere else.

    The rate is also the usual one, and one that leaves nothing. Padding is hidden there too.
    """
    training = {"keywords": {"training": True}, "seed": int(rng.integers(2**20))}
    case = replace(whole_texts(rng), **training)
    usual = replace(whole_texts(rng, num_layers=1, dropout=0.1), **training)
    nothing_left = whole_texts(rng, 3, num_layers=1, hidden_size=4, dropout=NEARLY_ONE)
    no_chance = padded_text(rng, [[1, 1, 1, 1, 0, 0], [1, 1, 1, 1, 1, 1]], dropout=0.0)
    return [
        Trial((without_effect(case, "encoder"),), (Varies(item=0),)),
        Trial((without_effect(case, "embeddings"),), (Varies(item=0),)),
        Trial((without_effect(case, "embeddings", "encoder"),)),
        Trial((replace(case, keywords={"training": False}),)),
        Trial((usual,), (Varies(item=0),)),
        Trial((replace(nothing_left, **training),)),
        Trial((replace(no_chance, **training),), (Reference(), HandsOn())),
        Trial((replace(without_effect(no_chance, "encoder"), **training),)),
        Trial((no_chance,), slopes_of_both(rng, no_chance)),
    ]


def slopes_of_both(rng: Random, case: Case) -> tuple[Slopes, Slopes]:
    """The gradients of the hidden states and of the pooled vectors."""
    tables = ("embeddings/token", "embeddings/position", "embeddings/segment")
    inside = ("embeddings/norm/gamma", "layers/attention/value/kernel", "layers/feed_forward/inner/kernel")
    return (
        slopes(rng, case, *tables, *inside, result=(2, 6, 8), item=0),
        slopes(rng, case, *tables, *inside, "pooler/dense/kernel", result=(2, 8), item=1),
    )


EXERCISE = Exercise(
    probe=layer(
        roles.inside("embeddings", roles.EMBEDDINGS)
        | roles.ENCODER
        | roles.inside("pooler", roles.dense("dense"))
    ),
    reference=bert,
    returns="tuple",
    in_graph=True,
    slow_draws=True,
    parts=(
        Part("values", 3, nothing_padded, hidden=wider_models),
        Part("padding", 2, padded_texts,
            "with padding in the batch the result is wrong: hide the keys that are padding, and change nothing else",
            hidden=more_padding_in_front),
        Part("dropout", 1, chance_in_training,
            "in training, and only there, dropout must act in the embeddings and in the encoder, both with the rate "
            "`dropout`; the mask must hide padding in training too; gradients must reach all weights; and `name` "
            "and `trainable=False` must have an effect. (In some calls the weights are such that dropout in one of "
            "the two does not change the result.)"),
    ),
    forbidden=WHOLE_BERT,
    facts=lambda case: {"tokens": case.arguments[0].shape[1]},
    hints=(
        "Four steps, four lines: embeddings, mask, encoder, pooler. Print the shape after each.",
        "`padding_mask` of notebook 03 makes (B, 1, T) from (B, T); pass it to the encoder by name: "
        "`attention_mask=`.",
        "The pooler reads the last layer's hidden states, and both are returned: `return hidden, pooled`.",
    ),
    misconceptions=(
        mistake("training-not-to-embeddings", "token_type_ids, training=training)", "token_type_ids, training=False)",
            hint="The embeddings do not get `training`: their dropout never acts. Pass it on to both."),
        mistake("training-not-to-encoder", "attention_mask=visible, training=training)",
            "attention_mask=visible, training=False)",
            hint="The encoder does not get `training`: its dropout never acts. Pass it on to both."),
        mistake("dropout-not-to-encoder", "intermediate_size, dropout=dropout)", "intermediate_size)",
            hint="`dropout` does not reach the encoder, which then has its own default rate. Pass it on to embeddings "
                 "and encoder."),
        mistake("dropout-not-to-embeddings", "max_positions, dropout=dropout)", "max_positions)",
            hint="`dropout` does not reach the embeddings, which then have their own default rate. Pass it on to "
                 "embeddings and encoder."),
        mistake("positions-not-handed-on", "hidden_size, max_positions, dropout", "hidden_size, dropout",
            hint="`max_positions` has no effect: pass it to `BertEmbeddings`, whose table of positions has that many "
                 "rows."),
        mistake("layers-for-heads", "Encoder(num_layers, num_heads,", "Encoder(num_heads, num_layers,",
            hint="You exchanged the numbers of layers and heads: `Encoder` takes the number of layers first."),
        mistake("kwargs-dropped", "super().__init__(**kwargs)", "super().__init__()",
            hint="`**kwargs` has no effect: hand it on to Keras's constructor. Keras's own arguments, such "
                 "as `trainable` and `name`, arrive there."),
        mistake("mask-not-handed-on",
            "self.encoder(x, attention_mask=visible, training=training)", "self.encoder(x, training=training)",
            hint="With padding the result changes: the encoder does not get the mask, so every token reads the "
                 "padding."),
        mistake("mask-turned-round", "padding_mask(attention_mask)", "padding_mask(1 - attention_mask)",
            hint="You hide the tokens and show the padding. 1 means: a token of the text."),
        mistake("mask-from-the-ids", "padding_mask(attention_mask)",
            'padding_mask(ops.cast(ops.not_equal(token_ids, 0), "int32"))',
            hint="You hide the tokens with the id 0. Only `attention_mask` tells what is padding: use it."),
        mistake("segments-left-out", "self.embeddings(token_ids, token_type_ids, training=training)",
            "self.embeddings(token_ids, ops.zeros_like(token_ids), training=training)",
            hint="Every token counts as segment A: `token_type_ids` marks which tokens belong to B. Pass it to the "
                 "embeddings."),
        mistake("mask-for-segments", "self.embeddings(token_ids, token_type_ids, training=training)",
            "self.embeddings(token_ids, attention_mask, training=training)",
            hint="You passed the mask to the embeddings as if it were the segments. The order: token ids, segments, "
                 "mask."),
        mistake("pooled-embeddings", "self.pooler(hidden)", "self.pooler(x)",
            hint="You pool the input of the encoder. There [CLS] has no information yet: pool the last layer's "
                 "hidden states."),
        mistake("padding-set-to-zero", "self.encoder(x, attention_mask=visible, training=training)",
            "self.encoder(x * ops.cast(attention_mask, x.dtype)[:, :, None], training=training)",
            hint="You set the padding's vectors to zero. They still get attention: a zero vector has a key and a "
                 "value too. Use the mask in attention."),
    ),
)  # fmt: skip
