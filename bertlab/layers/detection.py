"""The head that judges every token (Clark et al. 2020, "ELECTRA", section 2).

Letters: B batch, T tokens, H hidden size.
"""

import keras

from bertlab.layers.activations import get_activation


@keras.saving.register_keras_serializable("bertlab")
class DetectionHead(keras.layers.Layer):
    """act(x W + b) w + c: one score for each token.

    Args:
        activation, initializer_range: as in `BertConfig`.

    Parts: the Dense layers `dense` (H → H) and `score` (H → 1).

    Call: hidden (B, T, H) → (B, T).

    Example:
        >>> tuple(DetectionHead()(keras.random.normal((2, 5, 8))).shape)
        (2, 5)
    """

    def __init__(self, activation: str = "gelu", initializer_range: float = 0.02, **kwargs):
        super().__init__(**kwargs)
        self.activation = activation
        self.initializer_range = initializer_range

    def build(self, hidden_shape):
        self.dense = self._dense(hidden_shape, hidden_shape[-1], get_activation(self.activation), "dense")
        self.score = self._dense(hidden_shape, 1, None, "score")

    def _dense(self, shape, units, activation, name):
        initializer = keras.initializers.TruncatedNormal(stddev=self.initializer_range)
        layer = keras.layers.Dense(
            units, activation=activation, kernel_initializer=initializer, dtype=self.dtype_policy, name=name
        )
        layer.build(shape)
        return layer

    def call(self, hidden):
        return self.score(self.dense(hidden))[..., 0]  # (B, T)

    def flops(self, tokens: int) -> int:
        """Operations of the two products for so many tokens."""
        hidden_size = self.dense.kernel.shape[0]
        return 2 * tokens * hidden_size * (hidden_size + 1)

    def compute_output_shape(self, hidden_shape):
        return hidden_shape[:-1]

    def get_config(self):
        own = {"activation": self.activation, "initializer_range": self.initializer_range}
        return super().get_config() | own
