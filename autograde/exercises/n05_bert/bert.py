"""BERT without its pre-training heads."""

import numpy as np

from autograde.exercises import roles
from autograde.exercises.draws import Random, normal
from autograde.exercises.n05_bert._shared import WHOLE_BERT, dense_weights, encoder_weights, norm_weights, token_ids
from autograde.exercises.numpy_bert import below, dense, encoder, norm
from autograde.exercises.spec import Case, Exercise, cases, layer, mistake, values


def bert(token_ids, token_type_ids, attention_mask, *, weights, config):
    x = weights["embeddings/token"][token_ids] + weights["embeddings/segment"][token_type_ids]
    x = x + weights["embeddings/position"][: token_ids.shape[1]]
    x = norm(x, weights, "embeddings/norm")
    may_be_seen = (attention_mask == 1)[:, None, :]
    hidden = encoder(x, may_be_seen, weights=below(weights, "layers"), config=config)
    pooled = np.tanh(dense(hidden[:, 0], weights, "pooler/dense"))
    return hidden.astype("float32"), pooled.astype("float32")


def bert_case(rng: Random, ids, segments, is_real, **config) -> Case:
    config = {
        "vocab_size": 9, "hidden_size": 4, "num_layers": 2, "num_heads": 2, "intermediate_size": 6, "max_positions": 6,
    } | config  # fmt: skip
    hidden = config["hidden_size"]
    weights = {
        "embeddings/token": normal(rng, config["vocab_size"], hidden),
        "embeddings/position": normal(rng, config["max_positions"], hidden),
        "embeddings/segment": normal(rng, 2, hidden),
    }
    weights |= norm_weights(rng, "embeddings/norm", hidden)
    weights |= encoder_weights(rng, config["num_layers"], hidden, config["intermediate_size"])
    weights |= dense_weights(rng, "pooler/dense", hidden, hidden)
    return Case((ids, segments, is_real), {}, weights, config)


def real_tokens(lengths, tokens: int) -> np.ndarray:
    return (np.arange(tokens) < np.array(lengths)[:, None]).astype("int32")


def nothing_padded(rng: Random) -> list[Case]:
    ids = token_ids(rng, 2, 5)
    segments = (np.arange(5) >= rng.integers(2, 4, (2, 1))).astype("int32")
    return [bert_case(rng, ids, segments, np.ones((2, 5), "int32"), hidden_size=6, num_heads=3, num_layers=1)]


def padded_texts(rng: Random) -> list[Case]:
    """Pairs of several lengths, and texts of mostly padding, whose ids must have no effect."""
    segments = (np.arange(6) >= rng.integers(2, 4, (3, 1))).astype("int32")
    return [
        bert_case(rng, token_ids(rng, 3, 6), segments, real_tokens([6, 4, 5], 6)),
        bert_case(rng, token_ids(rng, 2, 6), np.zeros((2, 6), "int32"), real_tokens([1, 2], 6), num_layers=1),
    ]


EXERCISE = Exercise(
    probe=layer(
        {f"embeddings/{name}": [f"embeddings.{name}.embeddings"] for name in ("token", "position", "segment")}
        | roles.inside("embeddings", roles.norm("norm"))
        | roles.ENCODER
        | roles.inside("pooler", roles.dense("dense"))
    ),
    reference=bert,
    returns="tuple",
    parts=(
        values(3, nothing_padded),
        cases("padding", 3, padded_texts, "with padding in the batch the result is different"),
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
        mistake("mask-not-handed-on",
            "self.encoder(x, attention_mask=visible, training=training)", "self.encoder(x, training=training)",
            hint="With padding the result changes: the encoder does not get the mask, so every token reads the "
                 "padding."),
        mistake("mask-turned-round", "padding_mask(attention_mask)", "padding_mask(1 - attention_mask)",
            hint="You hide the tokens and show the padding. 1 means: a token of the text."),
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
