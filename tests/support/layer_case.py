"""The checks that every layer and every model goes through; `test_layers.py` and `test_models.py` list the cases.

A case says how to make the layer and what to call it with. Each check is a function of a case and an empty folder;
it makes a fresh layer, so the checks do not depend on one another. All of them run on any Keras backend.
"""

import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass

import keras
import numpy as np
from keras import ops

# A softmax does not change when every score of a row grows by the same amount, which is all that the bias of the keys
# can do: its gradient is 0 for every loss.
WITHOUT_GRADIENT = "key/bias"


@dataclass(frozen=True)
class LayerCase:
    """One layer and its inputs.

    name: shown by pytest.   make: (dropout, dtype) → the layer, with arguments that are not the defaults.
    arguments: arrays by the name that `call` gives them; a model's are all inside `inputs`.
    output_shape: of the first output.   has_dropout: whether `dropout` means anything to it.
    """

    name: str
    make: Callable
    arguments: dict
    output_shape: tuple
    has_dropout: bool = False

    def __str__(self):
        return self.name


def numpy_outputs(layer, arguments: dict, **options) -> list[np.ndarray]:
    """The layer's output, as a flat list of float32 arrays (NumPy has no bfloat16)."""
    outputs = keras.tree.flatten(layer(**arguments, **options))
    return [ops.convert_to_numpy(ops.cast(output, "float32")) for output in outputs]


def randomise(layer) -> None:
    """Draws new values for every weight, the same for two layers of one kind: γ around 1, the others around 0."""
    rng = np.random.default_rng(0)
    for weight in layer.trainable_weights:
        centre = 1.0 if weight.name == "gamma" else 0.0
        weight.assign(rng.normal(centre, 0.3, size=weight.shape).astype("float32"))


def made_and_called(case: LayerCase, dropout: float = 0.0, dtype: str = "float32"):
    """The layer, built by its first call and with weights that are not the initial ones."""
    layer = case.make(dropout=dropout, dtype=dtype)
    layer(**case.arguments)
    randomise(layer)
    return layer


def check_same_outputs(layer, other, case: LayerCase) -> None:
    for output, same in zip(numpy_outputs(layer, case.arguments), numpy_outputs(other, case.arguments), strict=True):
        np.testing.assert_allclose(same, output, rtol=1e-6, atol=1e-6)


# --- the checks ---


def shape_is_the_promised_one(case, folder):
    layer = case.make(dropout=0.0, dtype="float32")
    outputs = keras.tree.flatten(layer(**case.arguments))
    symbols = keras.tree.map_structure(lambda x: keras.KerasTensor(x.shape, str(x.dtype)), case.arguments)
    promised = keras.tree.flatten(layer.compute_output_spec(**symbols))
    assert tuple(outputs[0].shape) == case.output_shape
    for output, promise in zip(outputs, promised, strict=True):
        assert tuple(output.shape) == tuple(promise.shape)
        assert keras.backend.standardize_dtype(output.dtype) == keras.backend.standardize_dtype(promise.dtype)


def config_makes_the_same_layer_again(case, folder):
    layer = made_and_called(case, dropout=0.25)
    config = layer.get_config()
    json.dumps(config)  # plain values only
    arguments = inspect.signature(type(layer).__init__).parameters
    another_layer = {"tables"}  # parts of another layer that this one shares: no plain value can describe them
    assert {name for name in arguments if name not in ("self", "kwargs")} - another_layer <= set(config)

    again = type(layer).from_config(config)
    again(**case.arguments)
    again.set_weights(layer.get_weights())

    assert again.get_config() == config
    check_same_outputs(layer, again, case)


def saved_file_gives_equal_outputs(case, folder):
    layer = made_and_called(case)
    path = folder / "saved.keras"
    if isinstance(layer, keras.Model):
        layer.save(path)
        loaded = keras.saving.load_model(path)
    else:
        inputs = {
            name: keras.Input(batch_shape=x.shape, dtype=str(x.dtype), name=name) for name, x in case.arguments.items()
        }
        keras.Model(inputs, layer(**inputs)).save(path)
        loaded = keras.saving.load_model(path).get_layer(layer.name)
    assert type(loaded) is type(layer)
    check_same_outputs(layer, loaded, case)


def half_precision_is_close(case, folder):
    layer = made_and_called(case)
    expected = numpy_outputs(layer, case.arguments)
    for dtype, tolerance in (("float16", 2e-2), ("bfloat16", 1e-1)):  # their steps at 1 are 2^-10 and 2^-7
        half = case.make(dropout=0.0, dtype=f"mixed_{dtype}")
        outputs = keras.tree.flatten(half(**case.arguments))
        assert {keras.backend.standardize_dtype(output.dtype) for output in outputs} == {dtype}
        assert {weight.dtype for weight in half.trainable_weights} <= {"float32"}
        half.set_weights(layer.get_weights())
        for output, reference in zip(numpy_outputs(half, case.arguments), expected, strict=True):
            assert np.isfinite(output).all()
            np.testing.assert_allclose(output, reference, rtol=0, atol=tolerance * max(1, np.abs(reference).max()))


class Trainee(keras.Model):
    """Turns any layer into something `compile` can train: its loss is a fixed random mixture of all its outputs."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def call(self, arguments, training=False):
        options = {"training": training} if "training" in inspect.signature(self.layer.call).parameters else {}
        rng = np.random.default_rng(1)
        for output in keras.tree.flatten(self.layer(**arguments, **options)):
            mixture = ops.convert_to_tensor(rng.normal(size=output.shape), "float32")
            self.add_loss(ops.mean(ops.cast(output, "float32") * mixture))


def compiled_training_moves_every_weight(case, folder):
    layer = made_and_called(case)
    if not layer.trainable_weights:
        return
    trainee = Trainee(layer)
    jit = keras.backend.backend() != "torch"  # torch.compile would need a C++ compiler on the machine
    trainee.compile(keras.optimizers.SGD(0.02), jit_compile=jit)
    before = [ops.convert_to_numpy(weight) for weight in layer.trainable_weights]

    losses = [float(trainee.train_on_batch(case.arguments)) for _ in range(3)]

    assert losses[2] < losses[1] < losses[0]
    for weight, old in zip(layer.trainable_weights, before, strict=True):
        new = ops.convert_to_numpy(weight)
        assert np.isfinite(new).all(), weight.path
        assert (new != old).any() or weight.path.endswith(WITHOUT_GRADIENT), weight.path


def dropout_acts_only_in_training(case, folder):
    layer = made_and_called(case, dropout=0.5)
    expected = numpy_outputs(made_and_called(case, dropout=0.0), case.arguments)
    for _ in range(2):
        for output, without in zip(numpy_outputs(layer, case.arguments), expected, strict=True):
            np.testing.assert_array_equal(output, without)
    if case.has_dropout:
        once, twice = (numpy_outputs(layer, case.arguments, training=True)[0] for _ in range(2))
        assert (once != twice).any()


CHECKS = (
    shape_is_the_promised_one,
    config_makes_the_same_layer_again,
    saved_file_gives_equal_outputs,
    half_precision_is_close,
    compiled_training_moves_every_weight,
    dropout_acts_only_in_training,
)
