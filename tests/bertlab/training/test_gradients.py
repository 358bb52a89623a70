"""The optimizers' arrangement of gradients on a GPU with JAX, tried on this device: the update stays that of Keras."""

import keras
import numpy as np
import pytest
from keras import ops

from bertlab.training.finetuning.optimizer import LayerwiseAdamW
from bertlab.training.recipes import optimizer as optimizers
from bertlab.training.recipes.optimizer import AdamW, UncorrectedAdamW

SHAPES = [(7, 3), (3,), (5,), (), (3,), (3, 5), (5,), (3,)]


class Weights(keras.layers.Layer):
    """Variables of all shapes that a model of ours has."""

    def build(self, input_shape):
        self.all = [self.add_weight(shape=shape, name=f"w{n}", initializer="ones") for n, shape in enumerate(SHAPES)]


def new_optimizer(kind: str, options: dict):
    if kind == "layerwise":
        optimizer = LayerwiseAdamW([0.5**n for n in range(len(SHAPES))], [True] * len(SHAPES), **options)
        optimizer.learning_rate = 0.1
        return optimizer
    return {"adamw": AdamW, "uncorrected": UncorrectedAdamW}[kind](0.1, **options)


@pytest.fixture
def moved(monkeypatch):
    """A function that returns all weights after three updates. bad: a number of one gradient of the second update."""

    def weights_after(kind: str, options: dict, on_gpu: bool, bad: float | None = None) -> np.ndarray:
        monkeypatch.setattr(optimizers, "on_jax_gpu", lambda: on_gpu)
        layer, optimizer, rng = Weights(), new_optimizer(kind, options), np.random.default_rng(0)
        layer.build((None, 1))
        optimizer.build(layer.all)
        for step in range(3):
            given = [np.asarray(rng.normal(size=shape), "float32") for shape in SHAPES]
            if bad is not None and step == 1:
                given[4][1] = bad
            optimizer.apply([ops.convert_to_tensor(each) for each in given], layer.all)
        return np.concatenate([np.ravel(ops.convert_to_numpy(each)) for each in layer.all])

    return weights_after


@pytest.mark.parametrize(
    "kind, options",
    [
        ("adamw", {"global_clipnorm": 1.0}), ("adamw", {"global_clipnorm": 100.0}), ("adamw", {}),
        ("adamw", {"clipnorm": 0.5}), ("adamw", {"clipvalue": 0.5}), ("uncorrected", {"global_clipnorm": 1.0}),
        ("layerwise", {"global_clipnorm": 1.0}),
    ],
)  # fmt: skip
def test_gradients_in_one_array_make_the_update_of_keras(moved, kind, options):
    ours = moved(kind, options, on_gpu=True)
    np.testing.assert_allclose(ours, moved(kind, options, on_gpu=False), rtol=1e-5, atol=1e-6)
    assert len(set(ours.tolist())) > 20  # the weights differ, so none can have the gradient of another one


@pytest.mark.parametrize("bad", [float("inf"), float("nan")])
@pytest.mark.parametrize("on_gpu", [False, True])
def test_a_gradient_that_is_not_finite_makes_every_weight_nan(moved, bad, on_gpu):
    assert np.isnan(moved("adamw", {"global_clipnorm": 1.0}, on_gpu, bad)).all()


def test_vectors_of_one_size_share_an_array():
    given = [ops.zeros(shape) for shape in SHAPES]
    arrays, places = optimizers.joined_vectors(given)
    assert [tuple(array.shape) for array in arrays] == [(7, 3), (3, 3), (2, 5), (), (3, 5)]
    assert places == [(0, None), (1, 0), (2, 0), (3, None), (1, 1), (4, None), (2, 1), (1, 2)]


@pytest.mark.parametrize("on_gpu", [False, True])
def test_keras_clips_with_our_arrays_on_a_gpu_only(moved, monkeypatch, on_gpu):
    """Fails if Keras gives another name to `_clip_gradients`, which training would not notice."""
    arranged = optimizers.joined_vectors
    asked = []
    monkeypatch.setattr(optimizers, "joined_vectors", lambda given: asked.append(len(given)) or arranged(given))
    moved("adamw", {"global_clipnorm": 1.0}, on_gpu)
    assert asked == ([len(SHAPES)] * 3 if on_gpu else [])
