"""A student's own model and training step in 16-bit arithmetic, on GPUs that have it.

    model = build(make, "auto")                   the layers compute in 16 bits, the weights stay float32
    model, optimizer = scaled(model, optimizer)   to be used in a training step like the model and optimizer themselves

The smallest float16 is 6·10⁻⁸, and many gradients are smaller. So inside of the model they are computed S times as
large (Micikevicius et al. 2018, "Mixed Precision Training"):

    forwards     weights ───────▶ layers in float16 ───────▶ logits in float32 ──▶ loss
    backwards    gradient ◀─ ÷S ─ layers in float16 ◀─ ×S ── gradient of the logits

The division is in float32. A training step therefore gets gradients of the right length and can clip them as always.
bfloat16 has the range of float32 and needs no S.
"""

from collections.abc import Callable

import keras
import tensorflow as tf
from keras import ops

from bertlab.training.devices.precision import policy_of, resolve_precision

FIRST_SCALE = 2.0**15


def build(make: Callable, precision: str = "auto", say=print):
    """The model that `make` returns, with layers that compute in this precision.

    precision: "auto", "float32", "float16" or "bfloat16"; auto: the one that fits this machine's GPU, float32 without
    one. make: returns the model and the outputs of a first call. If the student's layers cannot compute in 16 bits,
    or compute infinity or NaN there, the model is made once more in float32, and a line explains why.
    """
    precision = resolve_precision(precision)
    if precision == "float32":
        return make()[0]
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(policy_of(precision))
    try:
        model, outputs = make()
        finite = all(bool(ops.all(ops.isfinite(output))) for output in outputs)
        problem = "" if finite else "an output is infinity or NaN"
    except Exception as error:  # any error of a student's layers
        problem = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    finally:
        keras.config.set_dtype_policy(before)
    if not problem:
        return model
    say(f"Your layers do not compute in {precision} ({problem}). The run uses float32, which is slower.")
    return make()[0]


def scaled(model, optimizer):
    """Model and optimizer for a training step: the same ones in float32, otherwise with what 16 bits need."""
    if model.compute_dtype == "float32":
        return model, optimizer
    if model.compute_dtype == "bfloat16":
        return MixedPrecision(model), optimizer
    optimizer = LossScale(optimizer, initial_scale=FIRST_SCALE)
    optimizer.build(model.trainable_variables)
    return MixedPrecision(model, optimizer.dynamic_scale), optimizer


class MixedPrecision:
    """A model with float32 outputs, whose gradients are `scale` times as large inside; its attributes are the model's
    own."""

    def __init__(self, model, scale=None):
        self.model, self.scale = model, scale

    def __getattr__(self, name):
        return getattr(self.model, name)

    def __call__(self, *inputs, training=None):
        scale = 1.0 if self.scale is None else ops.convert_to_tensor(self.scale)
        weights = [_with_gradient(tf.identity(v), 1 / scale) for v in self.model.trainable_variables]
        others = [tf.identity(v) for v in self.model.non_trainable_variables]
        outputs, others = self.model.stateless_call(weights, others, *inputs, training=training)
        for variable, value in zip(self.model.non_trainable_variables, others):
            variable.assign(value)
        return tuple(_with_gradient(ops.cast(output, "float32"), scale) for output in outputs)


def _with_gradient(tensor, factor):
    """The same tensor; backwards, the gradient is multiplied by the factor."""

    @tf.custom_gradient
    def same(value):
        return tf.identity(value), lambda gradient: tf.convert_to_tensor(gradient) * factor

    return same(tensor)


class LossScale(keras.optimizers.LossScaleOptimizer):
    """Leaves out a step with an infinite gradient, and halves S; after 2,000 good steps it doubles S. Keras's own class
    expects gradients that are S times as large, and divides them."""

    def apply(self, grads, trainable_variables=None):
        super().apply([ops.convert_to_tensor(one) * self.dynamic_scale for one in grads], trainable_variables)
