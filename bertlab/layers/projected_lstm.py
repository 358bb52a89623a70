"""An LSTM whose output is projected to a smaller size before it goes back into the gates.

Sources: Sak et al. 2014, "Long Short-Term Memory Recurrent Neural Network Architectures for Large Scale Acoustic
Modeling", section 2.2 (the projection, without peepholes here); forget gate with a bias of 1: Jozefowicz et al. 2015.

Letters: B batch, T tokens, D dimensions in, U units of the cell, P dimensions out.
"""

import keras
from keras import ops

from bertlab.layers.base import Layer


@keras.saving.register_keras_serializable("bertlab")
class ProjectedLSTM(Layer):
    """One direction of a recurrent network with a cell c of U numbers and an output h of P.

        i, f, g, o = x W + h′ R + b              h′, c′: output and cell of the token before, zero at first
        c = clip(σ(f) c′ + σ(i) tanh(g))
        h = clip((σ(o) tanh(c)) Q)               without a projection Q, h is σ(o) tanh(c), and P = U

    Args:
        units: U.   projection_size: P; None: no projection.
        cell_clip, projection_clip: the largest absolute value in c and in h; None: no limit.
        go_backwards: whether it reads each row from its last token to its first.

    Parts: `kernel` W (D, 4U) and `bias` (4U,); in `cell`, `recurrent_kernel` R (P, 4U) and, projected, `projection`
    Q (U, P). The gates are in the order of `keras.layers.LSTM`: input, forget, candidate, output.

    Call: x (B, T, D); is_real (B, T) bool, False at padding, where the output is 0 and nothing is remembered; starts
    (B, T) bool, True where the memory is emptied before a token is read, for rows of several texts. → (B, T, P), in
    the order of the tokens in both directions.

    Example:
        >>> lstm = ProjectedLSTM(units=32, projection_size=8)
        >>> tuple(lstm(ops.ones((2, 5, 16))).shape)
        (2, 5, 8)
    """

    def __init__(
        self,
        units: int,
        projection_size: int | None = None,
        cell_clip: float | None = None,
        projection_clip: float | None = None,
        go_backwards: bool = False,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.units, self.projection_size = units, projection_size
        self.go_backwards = go_backwards
        self.cell = _Cell(units, projection_size, cell_clip, projection_clip, dtype=self.dtype_policy, name="cell")
        self.recurrence = keras.layers.RNN(
            self.cell, return_sequences=True, go_backwards=go_backwards, zero_output_for_mask=True,
            dtype=self.dtype_policy, name="recurrence",
        )  # fmt: skip

    @property
    def width(self) -> int:
        """P."""
        return self.projection_size or self.units

    def build(self, input_shape):
        self.input_size = input_shape[-1]
        gates = (4 * self.units,)
        self.kernel = self.add_weight(name="kernel", shape=(self.input_size, *gates), initializer="glorot_uniform")
        self.bias = self.add_weight(name="bias", shape=gates, initializer=_forget_nothing)
        self.cell.build(None)
        self.recurrence.built = True

    def call(self, x, is_real=None, starts=None):
        z = ops.matmul(x, self.kernel) + self.bias  # (B, T, 4U): of all tokens at once, outside the recurrence
        if starts is not None:
            z = ops.concatenate([z, ops.cast(starts, z.dtype)[:, :, None]], axis=-1)  # (B, T, 4U + 1)
        y = self.recurrence(z, mask=is_real)  # (B, T, P), in the order of reading
        return ops.flip(y, axis=1) if self.go_backwards else y

    def flops(self, tokens: int) -> int:
        """Operations of the products for one row."""
        recurrent = self.width * 4 * self.units + (self.units * self.width if self.projection_size else 0)
        return 2 * tokens * (self.input_size * 4 * self.units + recurrent)


class _Cell(keras.layers.Layer):
    """One step: z = x W + b (B, 4U), and perhaps a last column of starts; states h (B, P) and c (B, U) → h, (h, c)."""

    def __init__(self, units, projection_size, cell_clip, projection_clip, **kwargs):
        super().__init__(**kwargs)
        self.units, self.projection_size = units, projection_size
        self.cell_clip, self.projection_clip = cell_clip, projection_clip
        self.output_size = projection_size or units
        self.state_size = [self.output_size, units]

    def build(self, input_shape=None):
        shape = (self.output_size, 4 * self.units)
        self.recurrent_kernel = self.add_weight(name="recurrent_kernel", shape=shape, initializer="orthogonal")
        if self.projection_size:
            shape = (self.units, self.projection_size)
            self.projection = self.add_weight(name="projection", shape=shape, initializer="glorot_uniform")
        self.built = True

    def call(self, z, states, training=False):
        h, c = states
        if z.shape[-1] != 4 * self.units:
            kept = 1 - z[:, -1:]  # (B, 1)
            z, h, c = z[:, :-1], h * kept, c * kept
        z = z + ops.matmul(h, self.recurrent_kernel)
        i, f, g, o = ops.split(z, 4, axis=-1)  # each (B, U)
        c = _clipped(ops.sigmoid(f) * c + ops.sigmoid(i) * ops.tanh(g), self.cell_clip)
        h = ops.sigmoid(o) * ops.tanh(c)
        if self.projection_size:
            h = ops.matmul(h, self.projection)  # (B, P)
        h = _clipped(h, self.projection_clip)
        return h, [h, c]


def _clipped(x, limit: float | None):
    return x if limit is None else ops.clip(x, -limit, limit)


def _forget_nothing(shape, dtype=None):
    """A bias of 1 for the forget gate, the second of four, and 0 for the others."""
    units = shape[0] // 4
    values = [ops.zeros((units,), dtype), ops.ones((units,), dtype), ops.zeros((2 * units,), dtype)]
    return ops.concatenate(values)
