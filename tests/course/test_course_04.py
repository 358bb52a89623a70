"""Notebook 04: its worked numbers, what its pictures claim, and the claim that came with it (chance acts)."""

import keras
import numpy as np
import pytest
from autograde_case import verdict_on, verdict_on_changed
from keras import ops
from notebook_loading import names_of_notebook, text_of  # noqa: F401 (a fixture)

NOTEBOOK = "04_encoder_layer"
SOURCE = text_of(NOTEBOOK)


def test_one_two_three_four_is_normalised_as_by_hand(names):
    e = ops.convert_to_tensor([[1.0, 2, 3, 4]])
    normalised = names["layer_norm"](e, ops.ones(4), ops.zeros(4))
    assert np.allclose(normalised, [[-1.3416, -0.4472, 0.4472, 1.3416]], atol=5e-5)
    assert "(-1.3416, -0.4472, 0.4472, 1.3416)" in SOURCE


def test_a_vector_as_small_as_epsilon_stays_small(names):
    e = ops.convert_to_tensor([[1e-6, 2e-6, 3e-6, 4e-6]])
    small = names["layer_norm"](e, ops.ones(4), ops.zeros(4))
    assert np.allclose(np.std(small), np.sqrt(1.25 / 2.25), atol=1e-3)


def test_gelu_at_plus_and_minus_one(names):
    assert np.allclose(names["gelu"](ops.convert_to_tensor([1.0, -1.0])), [0.8413, -0.1587], atol=5e-5)


@pytest.mark.parametrize(("kind", "place", "distance"), [("sigmoid", 2.27, 0.0203), ("tanh", 2.70, 0.00047)])
def test_the_approximations_have_the_errors_of_the_notebook_forty_times_apart(names, kind, place, distance):
    x = ops.linspace(0.0, 5.0, 1001)
    error = np.abs(names["gelu"](x, kind) - names["gelu"](x))
    assert np.allclose([x[error.argmax()], error.max()], [place, distance], atol=[0.05, 5e-5])  # float32: a coarse place


def test_the_spread_of_two_rows_is_as_by_hand_and_attention_alone_makes_words_alike(names):
    assert np.allclose(names["token_spread"](ops.convert_to_tensor([[[1.0, 0], [0, 1]]])), [0.7071], atol=5e-5)
    assert "0.7071" in SOURCE
    keras.utils.set_random_seed(4)
    state = ops.convert_to_tensor(np.random.default_rng(4).normal(size=(1, 12, 16)).astype("float32"))
    spreads = [float(names["token_spread"](state)[0])]
    for _ in range(4):
        state = names["MultiHeadAttention"](1)(state)
        spreads.append(float(names["token_spread"](state)[0]))
    assert spreads[0] > 0.9 and spreads[1] < 0.1 and max(spreads[2:]) < 1e-3


def test_a_layer_has_twelve_h_squared_and_thirteen_h_parameters(names):
    layer = names["EncoderLayer"](num_heads=4, intermediate_size=4 * 16)
    layer(ops.zeros((1, 3, 16)))
    assert layer.count_params() == 12 * 16**2 + 13 * 16
    assert 12 * 768**2 + 13 * 768 == 7_087_872 and "7,087,872" in SOURCE


@pytest.mark.slow
def test_the_last_layers_gradient_falls_with_depth_in_pre_ln_and_not_in_post_ln(names):
    """The notebook's own cell, on smaller stacks."""
    cell = SOURCE[SOURCE.index("import warnings\n") : SOURCE.index("arrangements = {\n")]
    space = dict(names)
    exec(cell, space)
    look_into = space["look_into"]
    ratio = {}
    for kind in ("EncoderLayer", "PreNormEncoderLayer"):
        shallow, deep = (look_into(space[kind], depth, hidden=32)[1][-1] for depth in (2, 12))
        ratio[kind] = deep / shallow
    assert ratio["EncoderLayer"] > 0.7 and ratio["PreNormEncoderLayer"] < 0.6
    inputs, _, differences = look_into(space["SubLayersOnly"], 8, hidden=32)
    assert inputs[0] / inputs[-1] < 0.1 and differences[-1] < 1e-5


@pytest.mark.slow
def test_the_stack_trains_in_a_keras_model_and_predicts_the_same_each_time(names):
    x, may_be_seen = keras.Input((5, 8)), keras.Input((1, 5), dtype="bool")
    model = keras.Model([x, may_be_seen], names["Encoder"](2, 2, 16, dropout=0.5)(x, attention_mask=may_be_seen))
    model.compile("adam", "mse")
    rng = np.random.default_rng(4)
    data = [rng.normal(size=(4, 5, 8)).astype("float32"), rng.random((4, 1, 5)) < 0.8]
    losses = model.fit(data, data[0], epochs=30, verbose=0).history["loss"]
    assert np.mean(losses[-5:]) < np.mean(losses[:5])
    assert np.array_equal(model.predict(data, verbose=0), model.predict(data, verbose=0))


def test_a_weight_that_cannot_be_trained_is_not_taken_for_keyword_arguments_that_are_lost():
    for old, new, advice in (
        ('initializer="zeros"', 'initializer="zeros", trainable=False', "leave out `trainable=False`"),
        ("super().__init__(**kwargs)", "super().__init__()", "hand all of `**kwargs` on"),
    ):
        assert advice in str(verdict_on_changed("layer-norm-layer", (old, new)))


@pytest.mark.slow
def test_the_verdict_on_a_layer_without_dropout_counts_the_zeros():
    verdict = verdict_on_changed("encoder-layer", ("Dropout(dropout)", "Dropout(0.0)"))
    assert verdict.points == 5
    assert "0% of the numbers that attention adds to x are 0; expected about 40%" in str(verdict)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["encoder-layer", "pre-norm-layer"])
@pytest.mark.parametrize(("dropped", "what"), [("attended", "attention"), ("transformed", "the network")])
def test_the_verdict_on_a_layer_with_one_of_two_dropouts_names_the_missing_one(name, dropped, what):
    verdict = verdict_on_changed(name, (f"self.dropout({dropped}, training=training)", dropped))
    assert f"0% of the numbers that {what} adds to x are 0" in str(verdict)


def test_a_function_that_only_copies_earns_no_point_for_dropout():
    verdict = verdict_on("dropout", "def dropout(x, rate, training):\n    return x")
    assert verdict.points == 0 and "expected about 40%" in str(verdict)
