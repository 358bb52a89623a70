"""The results of the other layers, against formulas written in NumPy with float64.

Sizes: B 2 rows, T 5 tokens, H 8, F 12 inside the feed-forward, V 11 tokens.
"""

import math

import keras
import numpy as np
import pytest
from keras import ops
from layer_case import randomise

from bertlab import layers
from bertlab.common.errors import ConfigError

CLOSE = dict(rtol=1e-5, atol=1e-5)
X = np.random.default_rng(0).normal(size=(2, 5, 8)).astype("float32")


def of(layer):
    """The layer's weights in float64, by the end of their path, after new values have been drawn for all of them."""
    randomise(layer)
    return {w.path.split("/", 1)[1]: ops.convert_to_numpy(w).astype("float64") for w in layer.trainable_weights}


def layer_norm64(x, gamma=1.0, beta=0.0, epsilon=1e-12):
    x = np.asarray(x, "float64")
    mean, variance = x.mean(axis=-1, keepdims=True), x.var(axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + epsilon) * gamma + beta


def gelu64(x):
    return x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


# --- activations ---

ACTIVATIONS = {
    "gelu": gelu64,
    "gelu_tanh": lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "gelu_sigmoid": lambda x: x / (1 + np.exp(-1.702 * x)),
    "silu": lambda x: x / (1 + np.exp(-x)),
    "relu": lambda x: np.maximum(x, 0),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_equal_their_formulas(name):
    x = np.linspace(-8, 8, 1601)
    y = ops.convert_to_numpy(layers.get_activation(name)(ops.convert_to_tensor(x, "float32")))
    np.testing.assert_allclose(y, ACTIVATIONS[name](x), rtol=1e-5, atol=2e-6)


def test_the_three_gelus_differ_by_what_their_docstrings_say():
    x = np.linspace(-8, 8, 16001)
    assert 4e-4 < np.abs(ACTIVATIONS["gelu_tanh"](x) - gelu64(x)).max() < 5e-4
    assert 2e-2 < np.abs(ACTIVATIONS["gelu_sigmoid"](x) - gelu64(x)).max() < 2.1e-2


def test_an_unknown_activation_is_named_with_the_choices():
    with pytest.raises(ConfigError, match="unknown activation 'swish'; choose one of gelu, gelu_tanh"):
        layers.get_activation("swish")


# --- layer normalisation ---


def test_layer_norm_equals_the_formula():
    layer = layers.LayerNormalization()
    layer.build(X.shape)
    weights = of(layer)
    np.testing.assert_allclose(ops.convert_to_numpy(layer(X)), layer_norm64(X, **weights), **CLOSE)


def test_epsilon_is_so_small_that_vectors_a_millionth_in_size_are_still_normalised():
    tiny = 1e-4 * X  # variance about 1e-8: with PyTorch's ε of 1e-5 or Keras's 1e-3 nothing would be left of it
    y = ops.convert_to_numpy(layers.LayerNormalization()(tiny))
    np.testing.assert_allclose(y, layer_norm64(tiny), rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(y.std(axis=-1), 1, rtol=1e-3)


def test_a_constant_vector_stays_finite():
    assert np.isfinite(ops.convert_to_numpy(layers.LayerNormalization()(np.full((1, 1, 8), 3, "float32")))).all()


def test_float16_is_normalised_in_float32():
    large = (X * 1000).astype("float16")  # squares beyond 65504, float16's largest number
    y = ops.convert_to_numpy(layers.LayerNormalization(dtype="mixed_float16")(large))
    assert y.dtype == np.float16
    np.testing.assert_allclose(y.astype("float32"), layer_norm64(large), rtol=2e-3, atol=2e-3)


# --- embeddings ---


def test_sinusoids_start_at_position_0_with_0_1_0_1():
    table = layers.sinusoids(4, 8)
    assert table[0].tolist() == [0, 1] * 4
    for position in range(4):
        for i in range(4):
            angle = position / 10000 ** (2 * i / 8)
            assert table[position, 2 * i] == pytest.approx(math.sin(angle), abs=1e-7)
            assert table[position, 2 * i + 1] == pytest.approx(math.cos(angle), abs=1e-7)


@pytest.mark.parametrize("kind", ["learned", "sinusoidal"])
def test_embeddings_are_the_normalised_sum_of_the_three(kind):
    ids = np.array([[3, 1, 10, 0, 0], [5, 5, 5, 2, 1]])
    segments = np.array([[0, 0, 1, 1, 1], [0, 1, 1, 0, 0]])
    layer = layers.BertEmbeddings(11, 8, max_positions=6, position_embedding=kind, name="e")
    layer.build((None, None))
    weights = of(layer)
    positions = weights["position/embeddings"] if kind == "learned" else layers.sinusoids(6, 8)
    for position_ids in (None, np.array([[0, 1, 2, 3, 4], [0, 1, 0, 1, 2]])):
        p = np.arange(5)[None] if position_ids is None else position_ids
        total = weights["token/embeddings"][ids] + weights["segment/embeddings"][segments] + positions[p]
        y = layer(ids, token_type_ids=segments, position_ids=position_ids)
        expected = layer_norm64(total, weights["norm/gamma"], weights["norm/beta"])
        np.testing.assert_allclose(ops.convert_to_numpy(y), expected, **CLOSE)


def test_without_segments_every_token_is_in_segment_a():
    ids = np.array([[3, 1, 10]])
    layer = layers.BertEmbeddings(11, 8)
    y, zeros = (ops.convert_to_numpy(layer(ids, token_type_ids=s)) for s in (None, np.zeros((1, 3), int)))
    np.testing.assert_array_equal(y, zeros)


def test_tables_are_drawn_from_a_normal_of_the_given_width_cut_at_two_of_them():
    layer = layers.TokenEmbedding(500, 100, initializer_range=0.02)
    layer.build((None, None))
    table = ops.convert_to_numpy(layer.embeddings)
    assert np.abs(table).max() <= 0.04
    assert table.std() == pytest.approx(0.02 * 0.8796, rel=0.02)  # what cutting at ±2σ leaves of σ


# --- feed-forward and encoder ---


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_feed_forward_equals_the_formula(name):
    layer = layers.FeedForward(12, name, name="f")
    layer.build(X.shape)
    w = of(layer)
    inner = ACTIVATIONS[name](X @ w["inner/kernel"] + w["inner/bias"])
    expected = inner @ w["outer/kernel"] + w["outer/bias"]
    np.testing.assert_allclose(ops.convert_to_numpy(layer(X)), expected, **CLOSE)


@pytest.mark.parametrize("pre_norm", [False, True], ids=["post-LN", "pre-LN"])
def test_encoder_layer_puts_the_norm_where_its_setting_asks(pre_norm):
    layer = layers.EncoderLayer(2, 12, dropout=0.0, attention_dropout=0.0, pre_norm=pre_norm, name="l")
    layer.build(X.shape)
    weights = of(layer)

    def norm(name, x):
        return layer_norm64(x, weights[f"{name}/gamma"], weights[f"{name}/beta"])

    def sub_layer(part, x):  # both are compared with formulas of their own elsewhere
        return ops.convert_to_numpy(part(x.astype("float32")))

    if pre_norm:
        x = X + sub_layer(layer.attention, norm("attention_norm", X))
        expected = x + sub_layer(layer.feed_forward, norm("output_norm", x))
    else:
        x = norm("attention_norm", X + sub_layer(layer.attention, X))
        expected = norm("output_norm", x + sub_layer(layer.feed_forward, x))
    np.testing.assert_allclose(ops.convert_to_numpy(layer(X)), expected, **CLOSE)


@pytest.mark.parametrize("pre_norm", [False, True], ids=["post-LN", "pre-LN"])
def test_encoder_returns_every_hidden_state_and_the_weights(pre_norm):
    encoder = layers.Encoder(3, 2, 12, pre_norm=pre_norm)
    y, states, weights = keras.tree.map_structure(ops.convert_to_numpy, encoder(X, return_all=True))
    assert len(states) == 4 and len(weights) == 3
    np.testing.assert_array_equal(states[0], X)
    np.testing.assert_array_equal(states[-1], y)
    x = X
    for layer, state, layer_weights in zip(encoder.layers_, states[1:], weights, strict=True):
        x, expected = layer(x, return_weights=True)
        np.testing.assert_allclose(layer_weights, ops.convert_to_numpy(expected), **CLOSE)
        if layer is encoder.layers_[-1] and pre_norm:
            x = encoder.final_norm(x)
        np.testing.assert_allclose(state, ops.convert_to_numpy(x), **CLOSE)
    np.testing.assert_allclose(y, ops.convert_to_numpy(encoder(X)), **CLOSE)  # the fused path


# --- heads ---


MASKS = {
    "none": None,
    "padding": np.array([[[[1, 1, 1, 0, 0]]], [[[1, 1, 1, 1, 1]]]], bool),  # (B, 1, 1, T)
    "causal": np.tril(np.ones((1, 1, 5, 5), bool)),
    "each row its own": np.random.default_rng(3).random((2, 1, 5, 5)) < 0.7,
}


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("pre_norm", [False, True], ids=["post-LN", "pre-LN"])
def test_some_positions_of_the_encoder_are_those_of_all(pre_norm, mask):
    encoder = layers.Encoder(2, num_heads=2, intermediate_size=12, pre_norm=pre_norm)
    encoder.build(X.shape)
    randomise(encoder)
    mask = None if MASKS[mask] is None else ops.convert_to_tensor(MASKS[mask])
    positions = np.array([[0, 3, 3], [0, 4, 1]], "int32")
    some = encoder(X, attention_mask=mask, positions=positions)
    everywhere = layers.gather_positions(encoder(X, attention_mask=mask), positions)
    np.testing.assert_allclose(ops.convert_to_numpy(some), ops.convert_to_numpy(everywhere), **CLOSE)


def test_pooler_is_a_tanh_layer_on_the_first_token():
    layer = layers.Pooler(name="p")
    layer.build(X.shape)
    w = of(layer)
    expected = np.tanh(X[:, 0] @ w["dense/kernel"] + w["dense/bias"])
    np.testing.assert_allclose(ops.convert_to_numpy(layer(X)), expected, **CLOSE)


@pytest.mark.parametrize("tied", [True, False], ids=["tied", "untied"])
def test_mlm_head_equals_the_formula(tied):
    layer = layers.MaskedLanguageModelHead(11, tied=tied, name="m")
    layer.build(X.shape)
    w = of(layer)
    table = np.random.default_rng(1).normal(size=(11, 8)).astype("float32") if tied else None
    x = layer_norm64(gelu64(X @ w["dense/kernel"] + w["dense/bias"]), w["norm/gamma"], w["norm/beta"])
    expected = x @ (table.T if tied else w["unembedding"]) + w["bias"]
    np.testing.assert_allclose(ops.convert_to_numpy(layer(X, table=table)), expected, **CLOSE)


def test_classification_head_is_one_linear_layer():
    layer = layers.ClassificationHead(3, dropout=0.5, name="c")
    layer.build(X.shape)
    w = of(layer)
    np.testing.assert_allclose(ops.convert_to_numpy(layer(X)), X @ w["dense/kernel"] + w["dense/bias"], **CLOSE)


def test_gather_positions_picks_vectors_row_by_row():
    positions = np.array([[4, 0, 0], [1, 2, 3]])
    y = ops.convert_to_numpy(layers.gather_positions(ops.convert_to_tensor(X), positions))
    np.testing.assert_array_equal(y, np.stack([X[0, [4, 0, 0]], X[1, [1, 2, 3]]]))


def test_every_layer_norm_of_a_model_has_the_epsilon_of_its_config():
    from bertlab.config import BertConfig
    from bertlab.models import BertForPreTraining

    config = BertConfig(vocab_size=11, hidden_size=8, num_layers=2, num_heads=2, intermediate_size=12, pre_norm=True)
    norms = [
        part for part in BertForPreTraining(config)._flatten_layers() if isinstance(part, layers.LayerNormalization)
    ]
    assert len(norms) == 1 + 2 * 2 + 1 + 1  # embeddings, two in each layer, the last of pre-LN, the MLM head
    assert {norm.epsilon for norm in norms} == {1e-12}
    assert not any(isinstance(part, keras.layers.LayerNormalization) for part in norms)
