"""Metrics of a pre-training run that Keras does not have."""

import keras
from keras import ops


class MeanIfAny(keras.metrics.Mean):
    """A running mean that is NaN, instead of 0, while it has no values."""

    def result(self):
        return ops.where(self.count > 0, super().result(), float("nan"))


class FirstBadStep(keras.metrics.Metric):
    """The number, from 1, of the first step since the last reset whose loss was infinite or not a number; else 0.

    Steps are run in bundles, which report one running mean: this metric shows at which step of a bundle it became bad.
    parts: how many losses a step has.
    """

    def __init__(self, parts: int = 1, name: str = "bad_step", **kwargs):
        super().__init__(name=name, **kwargs)
        self.parts = parts
        self.losses = self.add_variable(shape=(), initializer="zeros", dtype="int32", name="losses")
        self.first = self.add_variable(shape=(), initializer="zeros", dtype="int32", name="first")

    def update_state(self, loss, sample_weight=None):
        self.losses.assign(self.losses + 1)
        is_first = ops.logical_and(ops.logical_not(ops.isfinite(loss)), ops.equal(self.first, 0))
        self.first.assign(ops.where(is_first, self.losses.value, self.first.value))  # JAX's where takes no variables

    def result(self):
        return ops.floor_divide(self.first + self.parts - 1, self.parts)
