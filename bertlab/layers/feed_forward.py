"""The position-wise feed-forward network (Vaswani et al. 2017, section 3.3): the same two layers on every token; and
its gated form (Shazeer 2020, "GLU Variants Improve Transformer").

Letters: B batch, T tokens, H hidden size, F intermediate size (4·H in BERT).
"""

import math

import keras
from keras import ops

from bertlab.layers.activations import get_activation
from bertlab.layers.base import Layer, dense_part
from bertlab.layers.dropout import Dropout


@keras.saving.register_keras_serializable("bertlab")
class FeedForward(Layer):
    """act(x W₁ + b₁) W₂ + b₂.

    Args:
        intermediate_size: F, width between the two layers.   activation, initializer_range: as in `BertConfig`.

    Parts: the Dense layers `inner` and `outer`.

    Call: x (B, T, H) → (B, T, H).

    Example:
        >>> tuple(FeedForward(intermediate_size=32)(keras.random.normal((2, 5, 8))).shape)
        (2, 5, 8)
    """

    def __init__(self, intermediate_size: int, activation: str = "gelu", initializer_range: float = 0.02, **kwargs):
        super().__init__(**kwargs)
        self.intermediate_size = intermediate_size
        self.activation = activation
        self.initializer_range = initializer_range

    def build(self, input_shape):
        hidden_size = input_shape[-1]
        initializer = keras.initializers.TruncatedNormal(stddev=self.initializer_range)
        options = dict(dtype=self.dtype_policy)
        self.inner = keras.layers.Dense(
            self.intermediate_size, get_activation(self.activation), kernel_initializer=initializer.clone(),
            name="inner", **options,
        )  # fmt: skip
        self.outer = keras.layers.Dense(hidden_size, kernel_initializer=initializer.clone(), name="outer", **options)
        self.inner.build(input_shape)
        self.outer.build((*input_shape[:-1], self.intermediate_size))

    def call(self, x):
        return self.outer(self.inner(x))  # (B, T, F), then (B, T, H)

    def flops(self, tokens: int) -> int:
        """Operations of the two products for so many tokens."""
        return 2 * tokens * (math.prod(self.inner.kernel.shape) + math.prod(self.outer.kernel.shape))


@keras.saving.register_keras_serializable("bertlab")
class GatedFeedForward(FeedForward):
    """Dropout(act(x W) ⊙ x V) W₂, without biases; with GELU it is called GeGLU. W and V are the halves of one matrix.

    Args:
        intermediate_size: F, width of each half.   dropout: fraction of the product set to zero in training.
        activation, initializer_range: as in `FeedForward`.   output_range: initializer_range of W₂, if it differs.

    Parts: the Dense layers `inner`, (H, 2 F), and `outer`.

    Call: x (B, T, H) → (B, T, H).

    Example:
        >>> tuple(GatedFeedForward(intermediate_size=32)(keras.random.normal((2, 5, 8))).shape)
        (2, 5, 8)
    """

    def __init__(
        self,
        intermediate_size: int,
        activation: str = "gelu",
        dropout: float = 0.0,
        initializer_range: float = 0.02,
        output_range: float | None = None,
        **kwargs,
    ):
        super().__init__(intermediate_size, activation, initializer_range, **kwargs)
        self.dropout = dropout
        self.output_range = output_range

    def build(self, input_shape):
        inside, usual = (*input_shape[:-1], self.intermediate_size), self.initializer_range
        self.act = get_activation(self.activation)
        self.inner = dense_part(self, "inner", 2 * self.intermediate_size, input_shape, usual, use_bias=False)
        self.product_dropout = Dropout(self.dropout, dtype=self.dtype_policy, name="dropout")
        self.outer = dense_part(self, "outer", input_shape[-1], inside, self.output_range or usual, use_bias=False)

    def call(self, x, training=False):
        activated, gate = ops.split(self.inner(x), 2, axis=-1)  # (B, T, F) each
        return self.outer(self.product_dropout(self.act(activated) * gate, training=training))
