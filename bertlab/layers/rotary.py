"""Rotary positions: queries and keys are turned by an angle that grows with the position (Su et al. 2021, "RoFormer",
section 3.4.2). Their product then depends on the distance of two tokens alone.

Letters: B batch, T query tokens, S key tokens, A heads, d head size.
"""

import keras
import numpy as np
from keras import ops

from bertlab.layers.attention import MultiHeadAttention
from bertlab.layers.gathering import gather_positions


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
