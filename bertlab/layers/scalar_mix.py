"""A weighted sum of several layers' vectors, with weights that a task learns.

Source: Peters et al. 2018, "Deep contextualized word representations" (ELMo), equation 1: γ Σ_k s_k h_k with
s = softmax(w).

Letters: K layers, H hidden size.
"""

import keras
from keras import ops

from bertlab.layers.base import Layer


@keras.saving.register_keras_serializable("bertlab")
class ScalarMix(Layer):
    """γ Σ_k softmax(w)_k x_k: one number for each layer, the same for all tokens.

    Args:
        num_layers: K.

    Weights: `weights_of_layers` (K,), zero at first, so that the sum begins as the mean; `gamma` (), 1 at first.

    Call: x (…, K, H) → (…, H).

    Example:
        >>> mix = ScalarMix(num_layers=2)
        >>> ops.convert_to_numpy(mix(ops.array([[1.0, 3.0], [3.0, 5.0]]))).tolist()
        [2.0, 4.0]
    """

    def __init__(self, num_layers: int, **kwargs):
        super().__init__(**kwargs)
        self.num_layers = num_layers
        self.weights_of_layers = self.add_weight(name="weights_of_layers", shape=(num_layers,), initializer="zeros")
        self.gamma = self.add_weight(name="gamma", shape=(), initializer="ones")
        self.built = True

    def call(self, x):
        shares = ops.softmax(ops.cast(self.weights_of_layers, "float32"))  # (K,)
        factors = ops.cast(self.gamma * shares, x.dtype)
        return ops.sum(x * factors[:, None], axis=-2)
