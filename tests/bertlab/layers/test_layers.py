"""Every layer through the shared checks of `layer_case.py`. Tests of the results of each layer are in test_layers_*.py.

Sizes: B 2 rows, T 5 tokens, S 3 keys of another sequence, A 2 heads, H 8, F 12 inside the feed-forward, V 11 tokens.
"""

import math
from functools import partial

import keras
import numpy as np
import pytest
from keras import ops
from layer_case import CHECKS, LayerCase

from bertlab import layers
from bertlab.layers import activations, normalization

RNG = np.random.default_rng(0)
X = RNG.normal(size=(2, 5, 8)).astype("float32")
MEMORY = RNG.normal(size=(2, 3, 6)).astype("float32")
TABLE = RNG.normal(size=(11, 8)).astype("float32")
IDS = RNG.integers(0, 11, size=(2, 5)).astype("int32")
SEGMENTS = np.array([[0, 0, 0, 1, 1], [0, 0, 1, 1, 0]], "int32")
POSITIONS = np.array([[0, 1, 2, 3, 4], [0, 1, 0, 1, 2]], "int32")
MASK = np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]], "bool")[:, None, :]  # (B, 1, T)
OTHER = SEGMENTS[:, :, None] != SEGMENTS[:, None, :]  # (B, T, T)
RELATIVE = {"x": X, "distances": RNG.normal(size=(10, 8)).astype("float32"), "attention_mask": MASK,
            "other_segment": OTHER}  # fmt: skip
PLACES = np.array([[2, 0, 4], [1, 2, 1]], "int32")  # (B, P)
MEMORY_MASK = np.array([[1, 1, 1], [1, 1, 0]], "bool")[:, None, :]  # (B, 1, S)


def case(name, layer_class, arguments, output_shape, dropouts=(), **options):
    """dropouts: what the layer calls its dropout rates."""

    def make(dropout, dtype):
        return layer_class(**options, **{rate: dropout for rate in dropouts}, dtype=dtype)

    return LayerCase(name, make, arguments, output_shape, has_dropout=bool(dropouts))


ENCODER = dict(num_heads=2, intermediate_size=12, layer_norm_eps=1e-6, initializer_range=0.3)
ENCODER_DROPOUTS = ("dropout", "attention_dropout")
EMBEDDINGS = dict(
    vocab_size=11,
    hidden_size=8,
    max_positions=6,
    num_segments=3,
    layer_norm_eps=1e-6,
    initializer_range=0.3,
)
LSTM = dict(units=6, cell_clip=1.5, projection_clip=0.8)
CNN = dict(character_size=3, filters=((1, 4), (3, 5)), num_highway=1, activation="gelu_tanh")
CHARACTERS = RNG.integers(0, 261, size=(2, 5, 7)).astype("int32")
PACKED = np.array([[1, 1, 1, 2, 2], [1, 1, 2, 0, 0]], "int32")
MLM = dict(vocab_size=11, activation="relu", layer_norm_eps=1e-6, initializer_range=0.3)

CASES = [
    case("token embedding", layers.TokenEmbedding, {"token_ids": IDS}, (2, 5, 8),
         vocab_size=11, hidden_size=8, initializer_range=0.3),
    case("segment embedding", layers.SegmentEmbedding, {"token_type_ids": SEGMENTS}, (2, 5, 8),
         vocab_size=2, hidden_size=8, initializer_range=0.3),
    case("sinusoidal position embedding", layers.SinusoidalPositionEmbedding, {"position_ids": POSITIONS}, (2, 5, 8),
         num_positions=6, hidden_size=8),
    case("embeddings", layers.BertEmbeddings,
         {"token_ids": IDS, "token_type_ids": SEGMENTS, "position_ids": POSITIONS}, (2, 5, 8), ("dropout",),
         **EMBEDDINGS),
    case("embeddings, sinusoidal", layers.BertEmbeddings, {"token_ids": IDS}, (2, 5, 8), ("dropout",),
         position_embedding="sinusoidal", **EMBEDDINGS),
    case("factorised embeddings", layers.FactorisedEmbeddings,
         {"token_ids": IDS, "token_type_ids": SEGMENTS}, (2, 5, 12), ("dropout",), output_size=12, **EMBEDDINGS),
    case("scalar mix", layers.ScalarMix, {"x": X}, (2, 8), num_layers=5),
    case("shared encoder", layers.SharedEncoder, {"x": X, "attention_mask": MASK}, (2, 5, 8), ENCODER_DROPOUTS,
         num_steps=3, num_groups=2, layers_per_group=1, activation="gelu_tanh", **ENCODER),
    case("token embeddings alone", layers.BertEmbeddings, {"token_ids": IDS}, (2, 5, 8), ("dropout",),
         vocab_size=11, hidden_size=8, num_segments=0, position_embedding="none", norm=False, initializer_range=0.3),
    case("relative attention", layers.RelativeAttention, RELATIVE, (2, 5, 8), ("dropout",),
         num_heads=2, initializer_range=0.3),
    case("relative attention at some positions", layers.RelativeAttention,
         RELATIVE | {"positions": np.array([[2, 0, 4, 4, 1], [1, 2, 0, 3, 4]], "int32")}, (2, 5, 8), ("dropout",),
         num_heads=2, initializer_range=0.3),
    case("relative encoder layer", layers.RelativeEncoderLayer, RELATIVE, (2, 5, 8), ENCODER_DROPOUTS,
         activation="gelu_tanh", **ENCODER),
    case("two-stream encoder, predicting", layers.TwoStreamEncoder,
         {"x": X, "attention_mask": MASK, "token_type_ids": SEGMENTS, "positions": PLACES}, (2, 3, 8), ENCODER_DROPOUTS,
         num_layers=2, activation="gelu_tanh", **ENCODER),
    case("two-stream encoder with a memory", layers.TwoStreamEncoder,
         {"x": X, "attention_mask": MASK, "token_type_ids": SEGMENTS, "positions": PLACES,
          "memory": np.stack([X[:, :4], X[:, 1:]])}, (2, 3, 8), ENCODER_DROPOUTS,
         num_layers=2, activation="gelu_tanh", **ENCODER),
    case("gated feed-forward", layers.GatedFeedForward, {"x": X}, (2, 5, 8), ("dropout",),
         intermediate_size=12, activation="gelu_tanh", initializer_range=0.3, output_range=0.2),
    case("rotary attention", layers.RotaryAttention,
         {"x": X, "position_ids": POSITIONS, "attention_mask": MASK}, (2, 5, 8), ("dropout",),
         num_heads=2, theta=100.0, biases=False, initializer_range=0.3, output_range=0.2),
    case("rotary encoder layer", layers.RotaryEncoderLayer,
         {"x": X, "position_ids": POSITIONS, "attention_mask": MASK}, (2, 5, 8), ENCODER_DROPOUTS,
         activation="gelu_tanh", theta=100.0, output_range=0.2, attention_norm=False, **ENCODER),
    case("rotary encoder", layers.RotaryEncoder, {"x": X, "attention_mask": MASK, "position_ids": POSITIONS}, (2, 5, 8),
         ENCODER_DROPOUTS, num_layers=3, global_every=2, reach=1, global_theta=100.0, local_theta=10.0,
         activation="gelu_tanh", **ENCODER),
    case("head transform", layers.HeadTransform, {"x": X}, (2, 5, 8), initializer_range=0.3, layer_norm_eps=1e-6),
    case("transforming pooler", layers.TransformPooler, {"hidden": X, "attention_mask": MASK[:, 0].astype("int32")},
         (2, 8), pooling="mean", initializer_range=0.3, layer_norm_eps=1e-6),
    case("embeddings without positions", layers.BertEmbeddings, {"token_ids": IDS}, (2, 5, 8), ("dropout",),
         position_embedding="none", norm_bias=False, **EMBEDDINGS),
    case("layer normalisation without bias", layers.LayerNormalization, {"x": X}, (2, 5, 8), epsilon=1e-6, bias=False),
    case("MLM head without inner biases", layers.MaskedLanguageModelHead, {"hidden": X, "table": TABLE}, (2, 5, 11),
         inner_biases=False, **MLM),
    case("dropout", layers.Dropout, {"inputs": X}, (2, 5, 8), ("rate",)),
    case("layer normalisation", layers.LayerNormalization, {"x": X}, (2, 5, 8), epsilon=1e-6),
    case("self-attention", layers.MultiHeadAttention, {"x": X, "attention_mask": MASK}, (2, 5, 8), ("dropout",),
         num_heads=2, initializer_range=0.3),
    case("cross-attention", layers.MultiHeadAttention,
         {"x": X, "memory": MEMORY, "attention_mask": MEMORY_MASK}, (2, 5, 8), ("dropout",),
         num_heads=4, initializer_range=0.3),
    case("decoder layer, post-LN", layers.DecoderLayer,
         {"x": X, "memory": MEMORY, "attention_mask": MASK, "memory_mask": MEMORY_MASK}, (2, 5, 8), ENCODER_DROPOUTS,
         activation="gelu_tanh", **ENCODER),
    case("decoder layer, pre-LN", layers.DecoderLayer, {"x": X, "memory": MEMORY}, (2, 5, 8), ENCODER_DROPOUTS,
         pre_norm=True, activation="gelu_tanh", **ENCODER),
    case("decoder, pre-LN", layers.Decoder, {"x": X, "memory": MEMORY, "memory_mask": MEMORY_MASK}, (2, 5, 8),
         ENCODER_DROPOUTS, num_layers=2, pre_norm=True, activation="gelu_tanh", **ENCODER),
    case("scaled embeddings", layers.BertEmbeddings, {"token_ids": IDS, "position_ids": POSITIONS}, (2, 5, 8),
         ("dropout",), vocab_size=11, hidden_size=8, max_positions=6, num_segments=0, norm=False, scaled=True,
         position_embedding="sinusoidal", halves=True),
    case("feed-forward", layers.FeedForward, {"x": X}, (2, 5, 8),
         intermediate_size=12, activation="gelu_tanh", initializer_range=0.3),
    case("encoder layer, post-LN", layers.EncoderLayer, {"x": X, "attention_mask": MASK}, (2, 5, 8), ENCODER_DROPOUTS,
         activation="gelu_sigmoid", **ENCODER),
    case("encoder layer, pre-LN", layers.EncoderLayer, {"x": X, "attention_mask": MASK}, (2, 5, 8), ENCODER_DROPOUTS,
         pre_norm=True, **ENCODER),
    case("encoder, post-LN", layers.Encoder, {"x": X, "attention_mask": MASK}, (2, 5, 8), ENCODER_DROPOUTS,
         num_layers=2, activation="gelu_tanh", **ENCODER),
    case("encoder, pre-LN", layers.Encoder, {"x": X, "attention_mask": MASK}, (2, 5, 8), ENCODER_DROPOUTS,
         num_layers=2, pre_norm=True, **ENCODER),
    case("detection head", layers.DetectionHead, {"hidden": X}, (2, 5), activation="relu", initializer_range=0.3),
    case("pooler", layers.Pooler, {"hidden": X}, (2, 8), initializer_range=0.3),
    case("pooler of the last token", layers.LastTokenPooler,
         {"hidden": X, "attention_mask": MASK[:, 0].astype("int32")}, (2, 8), initializer_range=0.3),
    case("MLM head, without inner layer", layers.MaskedLanguageModelHead, {"hidden": X, "table": TABLE}, (2, 5, 11),
         transformed=False, **MLM),
    case("MLM head, tied", layers.MaskedLanguageModelHead, {"hidden": X, "table": TABLE}, (2, 5, 11), **MLM),
    case("MLM head, narrow", layers.MaskedLanguageModelHead, {"hidden": X, "table": TABLE[:, :6]}, (2, 5, 11),
         width=6, **MLM),
    case("MLM head, untied", layers.MaskedLanguageModelHead, {"hidden": X}, (2, 5, 11), tied=False, **MLM),
    case("language model head", layers.LanguageModelHead, {"hidden": X, "table": TABLE}, (2, 5, 11), vocab_size=11),
    case("language model head, untied", layers.LanguageModelHead, {"hidden": X}, (2, 5, 11), vocab_size=11, tied=False,
         initializer_range=0.3),
    case("language model head with a bias", layers.LanguageModelHead, {"hidden": X, "table": TABLE}, (2, 5, 11),
         vocab_size=11, bias=True),
    case("last token", layers.LastTokenVector, {"hidden": X, "attention_mask": MASK[:, 0].astype("int32")}, (2, 8)),
    case("embeddings without norm", layers.BertEmbeddings, {"token_ids": IDS}, (2, 5, 8), ("dropout",), norm=False,
         **EMBEDDINGS),
    case("projected LSTM, backwards", layers.ProjectedLSTM, {"x": X, "is_real": MASK[:, 0], "starts": PACKED == 2},
         (2, 5, 4), projection_size=4, go_backwards=True, **LSTM),
    case("highway", layers.Highway, {"x": X}, (2, 5, 8)),
    case("character CNN", layers.CharacterCNN, {"characters": CHARACTERS}, (2, 5, 4), output_size=4, **CNN),
    case("embeddings of characters for both directions", layers.BiLMEmbeddings, {"token_ids": IDS}, (2, 5, 8),
         vocab_size=11, hidden_size=8, max_characters=7, initializer_range=0.3, cnn=CNN),
    case("embeddings of tokens for both directions", layers.BiLMEmbeddings, {"token_ids": IDS}, (2, 5, 8),
         vocab_size=11, hidden_size=8, max_characters=None, initializer_range=0.3),
    case("layer of both directions", layers.BiLMLayer, {"x": X, "is_real": MASK[:, 0]}, (2, 5, 8), ("dropout",),
         residual=True, **LSTM),
    case("encoder of both directions", layers.BiLMEncoder, {"x": X, "attention_mask": MASK}, (2, 5, 8),
         ("dropout",), num_layers=2, **LSTM),
    case("head of both directions", layers.BiLMHead, {"hidden": X}, (2, 5, 2, 11), vocab_size=11),
    case("vector of both ends", layers.BothEndsVector, {"hidden": X, "attention_mask": MASK[:, 0].astype("int32")},
         (2, 8)),
    case("classification head on vectors", layers.ClassificationHead, {"x": X[:, 0]}, (2, 3), ("dropout",),
         num_outputs=3, initializer_range=0.3),
    case("classification head on tokens", layers.ClassificationHead, {"x": X}, (2, 5, 3), ("dropout",),
         num_outputs=3, initializer_range=0.3),
]  # fmt: skip


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("layer", CASES, ids=str)
def test_every_layer(layer, check, tmp_path):
    check(layer, tmp_path)


def test_no_layer_is_left_out():

    exported = {value for name in layers.__all__ if isinstance(value := getattr(layers, name), type)}
    tested = {type(layer.make(dropout=0.0, dtype="float32")) for layer in CASES}
    assert {kind for kind in exported if issubclass(kind, keras.layers.Layer)} == tested


@pytest.mark.parametrize("dtype, rounding", [("bfloat16", 2**-8), ("float16", 2**-11)])
def test_the_gelu_of_a_gpu_and_its_gradient_are_exact_but_for_rounding(monkeypatch, dtype, rounding):
    """Against Python's erf in float64, at every number of this type from -6 to 6 or at many of them."""
    monkeypatch.setattr(activations, "on_jax_gpu", lambda: True)
    x = ops.cast(np.linspace(-6, 6, 4001, dtype="float32"), dtype)
    y, gradient = value_and_gradient(activations.gelu, x)
    assert y.dtype == gradient.dtype == x.dtype
    x, y, gradient = (ops.convert_to_numpy(ops.cast(each, "float32")).astype("float64") for each in (x, y, gradient))
    phi = np.array([0.5 * math.erfc(-value / math.sqrt(2)) for value in x])
    slope = phi + x * np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    np.testing.assert_allclose(y, x * phi, rtol=rounding, atol=2e-6)
    np.testing.assert_allclose(gradient, slope, rtol=rounding, atol=2e-6)


@pytest.mark.parametrize("rows", [64, 7])  # with and without partial sums
def test_the_layer_norm_of_a_gpu_is_the_same_with_the_same_gradients(monkeypatch, rows):
    """Against the formula as other devices compute it: its gradients with respect to the input, γ and β."""
    rng = np.random.default_rng(0)
    x = ops.convert_to_tensor(rng.normal(2.0, 3.0, (2, rows, 12)).astype("float32"))
    upstream = ops.convert_to_tensor(rng.normal(size=(2, rows, 12)).astype("float32"))
    layer = layers.LayerNormalization()
    layer.build(x.shape)
    vectors = [ops.convert_to_tensor(rng.normal(1.0, 0.3, 12).astype("float32")) for _ in range(2)]

    def of(part, value):
        """The weighted sum of the output, as a function of one of the input, γ and β."""
        given = [x, *vectors]
        given[part] = value
        y, _ = layer.stateless_call(given[1:], [], given[0])
        return ops.sum(y * upstream)

    for part, value in enumerate([x, *vectors]):
        found = []
        for on_gpu in (False, True):
            monkeypatch.setattr(normalization, "on_jax_gpu", lambda on_gpu=on_gpu: on_gpu)
            found.append([ops.convert_to_numpy(each) for each in value_and_gradient(partial(of, part), value)])
        np.testing.assert_allclose(found[1][0], found[0][0], rtol=1e-5)
        np.testing.assert_allclose(found[1][1], found[0][1], rtol=1e-4, atol=1e-5)


def value_and_gradient(function, x) -> tuple:
    """function(x), and the gradient of its sum, with the tools of this backend."""
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        return y, tape.gradient(y, x)
    if keras.backend.backend() == "jax":
        import jax

        y, gradient_of = jax.vjp(function, x)
        return y, gradient_of(ops.ones_like(y))[0]
    x = x.detach().requires_grad_()
    y = function(x)
    y.sum().backward()
    return y.detach(), x.grad


def test_the_gelu_of_a_gpu_is_for_16_bits_only(monkeypatch):
    monkeypatch.setattr(activations, "on_jax_gpu", lambda: True)
    monkeypatch.setattr(activations, "_gelu_in_16_bits", lambda x: 2 * x)
    assert float(ops.max(activations.gelu(ops.ones(3)))) < 1
    assert float(ops.max(activations.gelu(ops.ones(3, "bfloat16")))) == 2
