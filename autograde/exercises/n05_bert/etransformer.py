"""The encoder-only transformer, lines 1-12."""

from dataclasses import replace

import numpy as np

from autograde.boundary import roles
from autograde.exercises.draws import Random, normal
from autograde.exercises.n05_bert._shared import (
    FINAL_ROLES,
    WHOLE_BERT,
    encoder_weights,
    final_weights,
    in_training,
    silenced,
    slopes,
    token_ids,
)
from autograde.exercises.n05_bert.final_layers import final_layers
from autograde.exercises.numpy_bert import below, encoder
from autograde.exercises.spec import Case, Exercise, HandsOn, OwnWeights, Part, Reference, Trial, layer, mistake


def etransformer(x, training=None, *, weights, config):
    e = weights["token/embeddings"][x] + weights["position/embeddings"][: x.shape[1]]
    e = encoder(e, weights=below(weights, "layers"), config=config)
    return final_layers(e, weights=weights, config={}, prefix="final/")


def etransformer_case(rng: Random, x: np.ndarray, **config) -> Case:
    config = {"vocab_size": 9, "d_e": 8, "num_layers": 2, "num_heads": 4, "d_mlp": 6, "max_length": 7} | config
    weights = {
        "token/embeddings": normal(rng, config["vocab_size"], config["d_e"]),
        "position/embeddings": normal(rng, config["max_length"], config["d_e"]),
    }
    weights |= encoder_weights(rng, config["num_layers"], config["d_e"], config["d_mlp"])
    weights |= final_weights(rng, config["d_e"], config["vocab_size"], "final/")
    return Case((x,), {}, weights, config)


def with_token_0(ids: np.ndarray) -> np.ndarray:
    """The same ids with one 0 in each text, at its second place."""
    ids = np.maximum(ids, 1)
    ids[:, 1] = 0
    return ids


def sequences(rng: Random) -> list[Trial]:
    """The numbers of layers, heads, tokens and places are all different; the second text has the greatest length.

    Each text has a token 0 among others, which is a token like any other. The second one comes after more and shorter
    texts.
    """
    first = etransformer_case(rng, with_token_0(token_ids(rng, 2, 5)))
    second = etransformer_case(rng, with_token_0(token_ids(rng, 1, 7)), d_e=6, num_heads=3, num_layers=1)
    after = replace(second, first=(token_ids(rng, 2, 3),))
    return [Trial((first,)), Trial((after,)), Trial((second,), (OwnWeights(),))]


def other_sequences(rng: Random) -> list[Trial]:
    return [
        Trial((etransformer_case(rng, token_ids(rng, 3, 1, vocabulary=5), vocab_size=5, num_layers=1, num_heads=1),)),
        Trial((etransformer_case(rng, with_token_0(token_ids(rng, 1, 4)), d_e=4, num_heads=2, num_layers=3, d_mlp=9),)),
    ]


def repeated_token(rng: Random) -> list[Trial]:
    """The same token at all positions: only the position vectors differ. The gradients of both tables and the encoder.

    In training nothing else than the encoder acts: here its sub-layers return zeros.
    """
    case = etransformer_case(rng, np.full((1, 4), rng.integers(0, 9), "int32"), num_layers=1, num_heads=2)
    trained = ("token/embeddings", "position/embeddings", "layers/attention/value/kernel", "final/dense/kernel")
    return [
        Trial((case,), (Reference(), HandsOn(), slopes(rng, case, *trained, result=(1, 4, 9)))),
        in_training(replace(case, weights=silenced(case.weights, "encoder"))),
    ]


_IN_THE_LOOP = """        for layer in self.encoder.layers_:
            e = layer(e)
            p = self.final(e)
            e = self.final.norm(gelu(self.final.dense(e)))
        return p
"""

EXERCISE = Exercise(
    probe=layer(
        {"token/embeddings": ["token.embeddings"], "position/embeddings": ["position.embeddings"]}
        | roles.ENCODER
        | {f"final/{role}": [f"final.{path}" for path in paths] + paths for role, paths in FINAL_ROLES.items()}
    ),
    reference=etransformer,
    in_graph=True,
    slow_draws=True,
    parts=(
        Part("values", 3, sequences, hidden=other_sequences),
        Part("positions", 2, repeated_token,
            "a text that repeats one token gives a different result, `name` or `trainable=False` has no effect, a "
            "table or the encoder cannot be trained, or in training something acts that is not in the encoder"),
    ),
    forbidden=WHOLE_BERT,
    facts=lambda case: {"layers": case.config["num_layers"], "heads": case.config["num_heads"]},
    hints=(
        "Three parts, one after the other: look up and add (lines 2–4), the encoder (5–9), the final layers (10–12).",
        "Position t gets row t of W_p, the same in every text of the batch: look up 0, 1, 2, … with `ops.arange`.",
        "`ops.shape(x)[1]` is ℓ. The positions' vectors are (ℓ, d_e); broadcasting adds them to (batch, ℓ, d_e).",
    ),
    misconceptions=(
        mistake("times-root-of-width", "self.token(x) + self.position(places)",
            "self.token(x) * self.token.output_dim**0.5 + self.position(places)",
            hint="You multiply the token vectors by √d_e, as the transformer of 2017 does. Line 3 adds them as they "
                 "are."),
        mistake("token-0-hidden", "self.encoder(e)", "self.encoder(e, attention_mask=ops.expand_dims(x != 0, 1))",
            hint="You hide the tokens with id 0 as padding. Here 0 is a token like any other; there is no padding."),
        mistake("layers-for-heads", "Encoder(num_layers, num_heads, d_mlp)", "Encoder(num_heads, num_layers, d_mlp)",
            hint="You make {heads} layers with {layers} heads. `Encoder` takes the number of layers first: here "
                 "{layers} layers with {heads} heads."),
        mistake("kwargs-dropped", "super().__init__(**kwargs)", "super().__init__()",
            hint="`**kwargs` has no effect: hand it on to Keras's constructor. Keras's own arguments, such "
                 "as `trainable` and `name`, arrive there."),
        mistake("length-for-vocabulary", "keras.layers.Embedding(max_length, d_e)",
            "keras.layers.Embedding(vocab_size, d_e)",
            hint="Your table of positions has a row for each token of the vocabulary. It needs one for each position: "
                 "`max_length`."),
        mistake("no-positions", "self.token(x) + self.position(places)", "self.token(x)",
            hint="W_p is missing: line 3 adds a vector for the position to the vector of the token."),
        mistake("positions-from-one",
            "places = ops.arange(ops.shape(x)[1])", "places = ops.arange(1, ops.shape(x)[1] + 1)",
            hint="Your positions begin with 1, as the lecture counts. The rows of a table begin with 0: the first "
                 "token gets row 0."),
        mistake("same-place-for-all", "self.position(places)", "self.position(places[:1])",
            hint="Every token gets the vector of the same position. Position t gets row t of W_p."),
        mistake("final-layers-in-the-loop", "        e = self.encoder(e)\n        return self.final(e)\n", _IN_THE_LOOP,
            hint="You apply lines 10 and 11 after every layer. They come after the loop: once, after layer L."),
        mistake("one-layer-again-and-again",
            "e = self.encoder(e)", "for _ in self.encoder.layers_:\n            e = self.encoder.layers_[0](e)",
            hint="You use the same layer {layers} times. Line 5: every layer l has its own parameters."),
        mistake("places-scaled", "self.token(x) + self.position(places)", "self.token(x) * self.position(places)",
            hint="You multiply the token vector by the position vector. Line 3 adds the two."),
    ),
)  # fmt: skip
