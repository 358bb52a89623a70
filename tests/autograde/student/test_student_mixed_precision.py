"""A student's model in 16 bits: gradients as in float32, small ones kept, steps with infinite ones left out."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from autograde.exercises import catalogue, cells
from autograde.exercises.n07_pretraining import pretraining_model
from autograde.student import mixed_precision


@pytest.fixture(autouse=True)
def any_precision(monkeypatch):
    """Layers compute in the precision that is asked for: there is no GPU here."""
    monkeypatch.setattr(mixed_precision, "resolve_precision", lambda name: name)


@pytest.fixture(scope="module")
def names():
    return cells.namespace(catalogue.find("perplexity"))


@pytest.fixture(scope="module")
def inputs():
    (case,) = pretraining_model.inputs_of_model(np.random.default_rng(0))[0].cases
    return list(map(np.asarray, case.arguments))


def _make(names, inputs, **changes):
    def make():
        keras.utils.set_random_seed(3)
        model = names["PreTrainingModel"](**pretraining_model.SIZES | {"dropout": 0.0} | changes)
        return model, model(*inputs)

    return make


def _gradients(model, own, inputs, size=1.0):
    with tf.GradientTape() as tape:
        logits, pairs = model(*inputs, training=True)
        loss = size * (tf.reduce_mean(logits**2) + tf.reduce_mean(pairs**2))
    return loss, [tf.convert_to_tensor(one) for one in tape.gradient(loss, own.trainable_variables)]


def _lengths(gradients):
    return np.array([np.linalg.norm(one) for one in gradients])


def test_a_scale_changes_no_gradient_in_float32(names, inputs):
    model = mixed_precision.build(_make(names, inputs), "float32")
    plain_loss, plain = _gradients(model, model, inputs)
    wrapped = mixed_precision.MixedPrecision(model, keras.Variable(2.0**15))
    loss, found = _gradients(wrapped, model, inputs)
    assert float(loss) == pytest.approx(float(plain_loss), rel=1e-6)
    for one, other in zip(plain, found, strict=True):
        assert np.allclose(one, other, rtol=1e-4, atol=1e-8)


@pytest.mark.parametrize("precision", ["float16", "bfloat16"])
def test_the_layers_compute_in_16_bits_and_weights_losses_and_gradients_are_float32(names, inputs, precision):
    reference = mixed_precision.build(_make(names, inputs), "float32")
    _, wanted = _gradients(reference, reference, inputs)
    own = mixed_precision.build(_make(names, inputs), precision)
    assert own.compute_dtype == precision and keras.config.dtype_policy().name == "float32"
    assert {str(v.dtype) for v in own.trainable_variables} == {"float32"}
    model, _ = mixed_precision.scaled(own, keras.optimizers.Adam(1e-3))
    assert {output.dtype.name for output in model(*inputs)} == {"float32"}
    _, found = _gradients(model, own, inputs)
    assert {one.dtype.name for one in found} == {"float32"}
    assert np.allclose(_lengths(found), _lengths(wanted), rtol=0.15, atol=1e-4)


def test_gradients_too_small_for_float16_arrive(names, inputs):
    """A loss of 10⁻⁶ times the usual: without S most gradients are 0 in float16."""
    own = mixed_precision.build(_make(names, inputs), "float16")
    model, _ = mixed_precision.scaled(own, keras.optimizers.SGD(1.0))
    _, kept = _gradients(model, own, inputs, size=1e-6)
    model.scale = None
    _, lost = _gradients(model, own, inputs, size=1e-6)
    assert np.mean([np.mean(np.asarray(one) == 0) for one in lost]) > 0.5
    _, usual = _gradients(model, own, inputs)
    model.scale = keras.Variable(mixed_precision.FIRST_SCALE)
    assert np.allclose(_lengths(kept) * 1e6, _lengths(usual), rtol=0.2, atol=1e-3)


def test_a_step_with_an_infinite_gradient_changes_only_the_scale():
    weight = keras.Variable(np.ones(3, "float32"))
    optimizer = mixed_precision.LossScale(keras.optimizers.SGD(1.0), initial_scale=8.0)
    optimizer.build([weight])
    optimizer.apply([np.array([1, np.inf, 0], "float32")], [weight])
    assert np.array_equal(weight, np.ones(3)) and float(optimizer.dynamic_scale) == 4
    optimizer.apply([np.array([1, 0, -1], "float32")], [weight])
    assert np.array_equal(weight, [0, 1, 2]) and float(optimizer.dynamic_scale) == 4


@pytest.mark.slow
def test_the_students_step_trains_in_float16_within_a_compiled_function(names):
    rng = np.random.default_rng(1)
    sizes = pretraining_model.SIZES
    batch = {
        "token_ids": rng.integers(0, sizes["vocab_size"], (4, 6)), "token_type_ids": rng.integers(0, 2, (4, 6)),
        "attention_mask": np.ones((4, 6), "int64"), "positions": np.tile([1, 3], (4, 1)),
        "labels": rng.integers(0, sizes["vocab_size"], (4, 2)), "weights": np.ones((4, 2), "float32"),
        "next_sentence": rng.integers(0, 2, 4),
    }  # fmt: skip
    batch = {name: tf.convert_to_tensor(value) for name, value in batch.items()}
    reads = [batch[name] for name in ("token_ids", "token_type_ids", "attention_mask", "positions")]
    own = mixed_precision.build(_make(names, reads, dropout=0.1), "float16")
    inner = keras.optimizers.Adam(3e-2)
    inner.build(own.trainable_variables)
    model, optimizer = mixed_precision.scaled(own, inner)
    step = tf.function(lambda: names["train_step"](model, optimizer, batch), jit_compile=False)
    losses = [float(step()) for _ in range(60)]
    assert np.mean(losses[-5:]) < 0.5 * losses[0] and int(inner.iterations) >= 50


def test_layers_that_cannot_compute_in_16_bits_compute_in_float32(names, inputs):
    said = []

    def stubborn():
        layer = keras.layers.Dense(2)
        outputs = layer(np.ones((1, 2), "float32"))
        if layer.compute_dtype == "float16":
            raise TypeError("expected half,\n got float")
        return layer, (outputs,)

    def nan():
        layer = keras.layers.Dense(2)
        return layer, (layer(np.full((1, 2), 1e6, "float32")),)

    assert mixed_precision.build(stubborn, "float16", said.append).compute_dtype == "float32"
    assert mixed_precision.build(nan, "float16", said.append).compute_dtype == "float32"
    assert "TypeError: expected half, got float" in said[0] and "infinity or NaN" in said[1]
    assert keras.config.dtype_policy().name == "float32"
