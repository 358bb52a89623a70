"""Layer normalisation (Ba, Kiros and Hinton 2016): each vector is scaled to mean 0 and variance 1.

Letters: B batch, T tokens, H hidden size.
"""

import keras
from keras import ops


@keras.saving.register_keras_serializable("bertlab")
class LayerNormalization(keras.layers.Layer):
    """γ · (x − mean) / √(variance + ε) + β, over the last axis.

    The mean and variance of float16 and bfloat16 inputs are taken in float32: ε = 1e-12 is 0 in float16.

    Args:
        epsilon: ε, inside the root; 1e-12 in every published BERT.
        bias: whether there is a β.

    Parts: the vectors `gamma` and, with a bias, `beta`.

    Call: x (..., H) float → (..., H).

    Example:
        >>> y = LayerNormalization()(ops.array([[1.0, 3.0]]))
        >>> ops.convert_to_numpy(y).tolist()
        [[-1.0, 1.0]]
    """

    def __init__(self, epsilon: float = 1e-12, bias: bool = True, **kwargs):
        super().__init__(**kwargs)
        self.epsilon = epsilon
        self.bias = bias

    def build(self, input_shape):
        options = dict(shape=(input_shape[-1],), autocast=False)  # used in float32, so never cast to float16 first
        self.gamma = self.add_weight(initializer="ones", name="gamma", **options)
        self.beta = self.add_weight(initializer="zeros", name="beta", **options) if self.bias else None

    def call(self, x):
        x = ops.cast(x, "float32")
        centred = x - ops.mean(x, axis=-1, keepdims=True)
        variance = ops.mean(ops.square(centred), axis=-1, keepdims=True)
        normalised = centred * ops.rsqrt(variance + self.epsilon)
        y = normalised * ops.cast(self.gamma, "float32")
        y = y if self.beta is None else y + ops.cast(self.beta, "float32")
        return ops.cast(y, self.compute_dtype)

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return super().get_config() | {"epsilon": self.epsilon, "bias": self.bias}
