"""The head that judges every token (Clark et al. 2020, "ELECTRA", section 2).

Letters: B batch, T tokens, H hidden size.
"""

import keras

from bertlab.layers.activations import get_activation
from bertlab.layers.base import Layer, dense_part


@keras.saving.register_keras_serializable("bertlab")
class DetectionHead(Layer):
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
        deviation, activation = self.initializer_range, get_activation(self.activation)
        self.dense = dense_part(self, "dense", hidden_shape[-1], hidden_shape, deviation, activation=activation)
        self.score = dense_part(self, "score", 1, hidden_shape, deviation)

    def call(self, hidden):
        return self.score(self.dense(hidden))[..., 0]  # (B, T)

    def flops(self, tokens: int) -> int:
        """Operations of the two products for so many tokens."""
        hidden_size = self.dense.kernel.shape[0]
        return 2 * tokens * hidden_size * (hidden_size + 1)
