"""A dense layer, an activation and a LayerNorm before a head's linear layer, on tokens or on one vector of a row.

Letters: B batch, T tokens, H hidden size.
"""

import keras
from keras import ops

from bertlab.common.errors import ConfigError
from bertlab.layers.activations import get_activation
from bertlab.layers.base import Layer, dense_part
from bertlab.layers.gathering import last_real_vectors
from bertlab.layers.normalization import LayerNormalization

POOLINGS = ("cls", "mean")


@keras.saving.register_keras_serializable("bertlab")
class HeadTransform(Layer):
    """LN(act(x W)), without biases.

    Args:
        activation, layer_norm_eps, initializer_range: as in `BertConfig`.

    Parts: the Dense layer `dense`, and `norm`.

    Call: x (…, H) → (…, H).

    Example:
        >>> tuple(HeadTransform()(keras.random.normal((2, 5, 8))).shape)
        (2, 5, 8)
    """

    def __init__(
        self, activation: str = "gelu", layer_norm_eps: float = 1e-5, initializer_range: float = 0.02, **kwargs
    ):
        super().__init__(**kwargs)
        self.activation = activation
        self.layer_norm_eps = layer_norm_eps
        self.initializer_range = initializer_range

    def build(self, input_shape):
        options = dict(activation=get_activation(self.activation), use_bias=False)
        self.dense = dense_part(self, "dense", input_shape[-1], input_shape, self.initializer_range, **options)
        self.norm = LayerNormalization(self.layer_norm_eps, bias=False, dtype=self.dtype_policy, name="norm")
        self.norm.build(input_shape)

    def call(self, x):
        return self.norm(self.dense(x))


@keras.saving.register_keras_serializable("bertlab")
class TransformPooler(HeadTransform):
    """One transformed vector for the whole row: of its first token, [CLS], or the mean over its real tokens.

    Args:
        pooling: cls | mean. The others as in `HeadTransform`.

    Call: hidden (B, T, H); attention_mask (B, T) int, 1 for a real token, default all → (B, H).

    Example:
        >>> tuple(TransformPooler("mean")(keras.random.normal((2, 5, 8))).shape)
        (2, 8)
    """

    reads = ("attention_mask",)

    def __init__(self, pooling: str = "cls", **kwargs):
        super().__init__(**kwargs)
        self.pooling = pooling

    @property
    def needs_all(self) -> bool:
        """Whether the vectors of all tokens are needed, not only that of [CLS]."""
        return self.pooling == "mean"

    def call(self, hidden, attention_mask=None):
        return super().call(hidden[:, 0] if self.pooling == "cls" else _mean(hidden, attention_mask))


@keras.saving.register_keras_serializable("bertlab")
class LastTokenVector(Layer):
    """The vector of a row's last real token, the only one that has seen the whole row in a left-to-right model.

    Call: hidden (B, T, H); attention_mask (B, T) int, 1 for a real token, default all → (B, H).

    Example:
        >>> hidden = keras.random.normal((2, 5, 8))
        >>> mask = ops.array([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0]])
        >>> bool(ops.all(LastTokenVector()(hidden, attention_mask=mask)[1] == hidden[1, 1]))
        True
    """

    reads = ("attention_mask",)
    needs_all = True

    def call(self, hidden, attention_mask=None):
        _check_rows(attention_mask)
        return last_real_vectors(hidden, attention_mask)


def _check_rows(attention_mask) -> None:
    if attention_mask is not None and len(attention_mask.shape) != 2:
        raise ConfigError(
            f"attention_mask has {len(attention_mask.shape)} axes; a vector of the real tokens needs (batch, tokens)"
        )


def _mean(hidden, attention_mask):
    """The mean over the real tokens, in float32: (B, T, H) → (B, H)."""
    _check_rows(attention_mask)
    if attention_mask is None:
        return ops.mean(hidden, axis=1)
    weights = ops.cast(attention_mask, "float32")  # (B, T)
    total = ops.einsum("bth,bt->bh", ops.cast(hidden, "float32"), weights)
    return ops.cast(total / ops.sum(weights, axis=1, keepdims=True), hidden.dtype)
