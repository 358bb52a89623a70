"""Rotary positions: queries and keys are turned by an angle that grows with the position (Su et al. 2021, "RoFormer",
section 3.4.2). Their product then depends on the distance of two tokens alone.

Letters: B batch, T query tokens, S key tokens, A heads, d head size.
"""

import math

import keras
import numpy as np
from keras import ops

from bertlab.layers.attention import MultiHeadAttention
from bertlab.layers.base import Layer
from bertlab.layers.dropout import Dropout
from bertlab.layers.encoder import Stack
from bertlab.layers.feed_forward import GatedFeedForward
from bertlab.layers.gathering import gather_positions
from bertlab.layers.masks import combine, rows_at, window_mask
from bertlab.layers.normalization import LayerNormalization


def rotation(position_ids, head_size: int, theta: float = 10000.0):
    """The angles p / θ^(2i/d) of positions p, in float32.

    position_ids (B or 1, T) int, head_size d, even → (B or 1, T, d/2).

    Example:
        >>> angles = rotation(ops.array([[0, 1]]), head_size=4, theta=100.0)
        >>> ops.convert_to_numpy(angles).round(3)[0, 1]
        array([1. , 0.1], dtype=float32)
    """
    rates = (1.0 / theta ** (np.arange(0, head_size, 2) / head_size)).astype("float32")  # (d/2,)
    return ops.cast(position_ids, "float32")[:, :, None] * ops.convert_to_tensor(rates)


def rotate(x, angles):
    """Turns each pair (x[i], x[i + d/2]) of a head by its angle, in float32. x (B, T, A, d), angles (B or 1, T, d/2).

    Example:
        >>> x = ops.array([[[[1.0, 0.0]]]])
        >>> np.round(ops.convert_to_numpy(rotate(x, ops.array([[[np.pi / 2]]]))), 3).tolist()
        [[[[-0.0, 1.0]]]]
    """
    cos, sin = ops.cos(angles)[:, :, None], ops.sin(angles)[:, :, None]  # (B, T, 1, d/2)
    first, second = ops.split(ops.cast(x, "float32"), 2, axis=-1)  # (B, T, A, d/2)
    turned = ops.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1)
    return ops.cast(turned, x.dtype)


@keras.saving.register_keras_serializable("bertlab")
class RotaryAttention(MultiHeadAttention):
    """Multi-head attention whose queries and keys are rotated by the positions of their tokens.

    Args:
        theta: θ, the base of the angles.
        The others and the parts as in `MultiHeadAttention`; d = H / A must be even.

    Call: as `MultiHeadAttention`, with position_ids (B or 1, S) int of the keys' tokens. Where x has only some
    positions of memory, positions (B, T) int says which.

    Example:
        >>> x = keras.random.normal((2, 5, 8))
        >>> tuple(RotaryAttention(num_heads=2)(x, ops.arange(5)[None]).shape)
        (2, 5, 8)
    """

    def __init__(self, num_heads: int, dropout: float = 0.0, theta: float = 10000.0, **kwargs):
        super().__init__(num_heads, dropout, **kwargs)
        self.theta = theta

    def call(
        self, x, position_ids, attention_mask=None, memory=None, positions=None, training=False, return_weights=False
    ):
        memory = x if memory is None else memory
        head_size = x.shape[-1] // self.num_heads
        angles = rotation(position_ids, head_size, self.theta)  # (B or 1, S, d/2); never in 16 bits
        of_queries = angles
        if positions is not None:
            everywhere = ops.broadcast_to(angles, (ops.shape(x)[0], *ops.shape(angles)[1:]))
            of_queries = gather_positions(everywhere, positions)  # (B, T, d/2)
        query = rotate(self.split_heads(self.query(x)), of_queries)  # (B, T, A, d)
        key = rotate(self.split_heads(self.key(memory)), angles)  # (B, S, A, d)
        value = self.split_heads(self.value(memory))  # (B, S, A, d)
        return self.attend(query, key, value, attention_mask, training, return_weights)


@keras.saving.register_keras_serializable("bertlab")
class RotaryEncoderLayer(Layer):
    """x = x + Dropout(Attention(LN(x))), then x = x + FeedForward(LN(x)): pre-LN, without biases.

    Args:
        num_heads: A.   intermediate_size, activation: of `GatedFeedForward`.   theta: of `RotaryAttention`.
        dropout: inside the feed-forward network.   attention_dropout: on the attention's weights and on its output.
        layer_norm_eps, initializer_range: as in `BertConfig`.   output_range: of the matrices that end a
            sub-layer, if it differs.
        attention_norm: whether the attention reads LN(x); False: x, as in a first layer behind normalised embeddings.

    Parts: `attention`, `attention_norm` (or None), `feed_forward`, `output_norm`.

    Call: x (B, T, H); position_ids (B or 1, T) int; attention_mask, return_weights and positions as in `EncoderLayer`,
    and so is what it returns.

    Example:
        >>> layer = RotaryEncoderLayer(num_heads=2, intermediate_size=12)
        >>> tuple(layer(keras.random.normal((2, 5, 8)), ops.arange(5)[None]).shape)
        (2, 5, 8)
    """

    def __init__(
        self,
        num_heads: int,
        intermediate_size: int,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        activation: str = "gelu",
        theta: float = 10_000.0,
        layer_norm_eps: float = 1e-5,
        initializer_range: float = 0.02,
        output_range: float | None = None,
        attention_norm: bool = True,
        **kwargs,
    ):
        super().__init__(**kwargs)
        dtype = self.dtype_policy
        ranges = dict(initializer_range=initializer_range, output_range=output_range)
        self.attention = RotaryAttention(
            num_heads, attention_dropout, theta, **ranges, biases=False, dtype=dtype, name="attention"
        )
        self.attention_drop = Dropout(attention_dropout, dtype=dtype, name="attention_dropout")
        self.attention_norm = None
        if attention_norm:
            self.attention_norm = LayerNormalization(layer_norm_eps, bias=False, dtype=dtype, name="attention_norm")
        self.feed_forward = GatedFeedForward(
            intermediate_size, activation, dropout, **ranges, dtype=dtype, name="feed_forward"
        )
        self.output_norm = LayerNormalization(layer_norm_eps, bias=False, dtype=dtype, name="output_norm")

    def build(self, input_shape):
        for layer in (self.attention, self.attention_norm, self.feed_forward, self.output_norm):
            if layer is not None:
                layer.build(input_shape)

    def call(self, x, position_ids, attention_mask=None, training=False, return_weights=False, positions=None):
        memory = queries = x if self.attention_norm is None else self.attention_norm(x)  # (B, T, H)
        if positions is not None:
            x, queries = gather_positions(x, positions), gather_positions(memory, positions)  # (B, P, H)
            attention_mask = rows_at(attention_mask, positions)
        options = dict(memory=memory, positions=positions, training=training, return_weights=return_weights)
        attended = self.attention(queries, position_ids, attention_mask=attention_mask, **options)
        attended, *weights = attended if return_weights else (attended,)
        x = x + self.attention_drop(attended, training=training)  # (B, T, H)
        x = x + self.feed_forward(self.output_norm(x), training=training)
        return (x, *weights) if return_weights else x

    def flops(self, tokens: int, queries: int) -> int:
        """Operations of the products for one row, of which only `queries` positions are computed."""
        return self.attention.flops(queries, tokens) + self.feed_forward.flops(queries)


@keras.saving.register_keras_serializable("bertlab")
class RotaryEncoder(Stack):
    """L rotary layers and a last LayerNorm. The first and every `global_every`-th layer after it sees the whole row.

    Args:
        num_layers: L.   num_heads: A.   intermediate_size: of each half of the gated feed-forward network.
        global_every: 1: all layers are global.   reach: how far to each side a local layer sees.
        global_theta, local_theta: θ of the rotary positions in global and in local layers.
        initializer_range: standard deviation of the kernels; those that end a sub-layer have 1/√(2L) of it.
        The others as in `RotaryEncoderLayer`.

    Parts: the list `layers_`, and `final_norm`.

    Call: as `Encoder`; position_ids (B, T) int, default 0 … T − 1.

    Example:
        >>> encoder = RotaryEncoder(num_layers=3, num_heads=2, intermediate_size=12, reach=1)
        >>> y, hidden_states, attentions = encoder(keras.random.normal((2, 5, 8)), return_all=True)
        >>> len(hidden_states), tuple(attentions[0].shape), float(attentions[1][0, 0, 0, 2])
        (4, (2, 2, 5, 5), 0.0)
    """

    reads = ("position_ids",)

    def __init__(
        self,
        num_layers: int,
        num_heads: int,
        intermediate_size: int,
        global_every: int = 3,
        reach: int = 64,
        global_theta: float = 160_000.0,
        local_theta: float = 10_000.0,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        activation: str = "gelu",
        layer_norm_eps: float = 1e-5,
        initializer_range: float = 0.02,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.global_every, self.reach = global_every, reach
        options = dict(
            dropout=dropout, attention_dropout=attention_dropout, activation=activation,
            layer_norm_eps=layer_norm_eps, initializer_range=initializer_range,
            output_range=initializer_range / math.sqrt(2 * num_layers), dtype=self.dtype_policy,
        )  # fmt: skip
        self.layers_ = [
            RotaryEncoderLayer(
                num_heads,
                intermediate_size,
                theta=local_theta if i % global_every else global_theta,
                attention_norm=i > 0,
                name=f"layer_{i}",
                **options,
            )
            for i in range(num_layers)
        ]
        self.final_norm = LayerNormalization(layer_norm_eps, bias=False, dtype=self.dtype_policy, name="final_norm")

    def call(
        self, x, attention_mask=None, position_ids=None, training=False, return_all=False, positions=None, depth=None
    ):
        layers = self.layers_[:depth]
        num_tokens = ops.shape(x)[1]
        position_ids = ops.arange(num_tokens)[None] if position_ids is None else position_ids
        near = combine(attention_mask, window_mask(num_tokens, self.reach))
        masks = [near if number % self.global_every else attention_mask for number in range(len(layers))]
        options = [dict(position_ids=position_ids, attention_mask=mask, training=training) for mask in masks]
        options[-1]["positions"] = positions
        return self.through(x, layers, options, return_all)
