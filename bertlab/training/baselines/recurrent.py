"""Recurrent networks, through Keras's own layers: a state goes from word to word and remembers what it has read.

rnn: h_t = tanh(x_t W + h_{t−1} U + b) (Elman 1990). lstm: gates decide what is written, kept and shown (Hochreiter and
Schmidhuber 1997; forget gate: Gers et al. 2000). gru: two gates, no cell (Cho et al. 2014). bilstm: one LSTM from each
end, side by side (Graves and Schmidhuber 2005).

Letters: B batch, T tokens, D dimensions in, U units; out: U, of a bilstm 2 · U.
"""

import keras
from keras import ops

from bertlab.layers.dropout import Dropout
from bertlab.training.baselines.texts import max_of_real

_LAYERS = {"rnn": "SimpleRNN", "lstm": "LSTM", "gru": "GRU", "bilstm": "LSTM"}


@keras.saving.register_keras_serializable("bertlab")
class RecurrentStack(keras.layers.Layer):
    """Some recurrent layers, one on top of the other, with dropout before each.

    Args:
        kind: rnn | lstm | gru | bilstm.   input_size: D.   units: U.   num_layers: how many.   dropout: its rate.

    Call: x (B, T, D), is_real (B, T) with padding behind the tokens → a state for each token (B, T, U or 2 · U).

    Example:
        >>> stack = RecurrentStack("bilstm", input_size=8, units=5)
        >>> states = stack(ops.ones((2, 3, 8)), ops.ones((2, 3)))
        >>> tuple(states.shape), tuple(stack.pooled(states, ops.ones((2, 3))).shape)
        ((2, 3, 10), (2, 10))
    """

    def __init__(self, kind: str, input_size: int, units: int, num_layers: int = 1, dropout: float = 0.0, **kwargs):
        super().__init__(**kwargs)
        self.kind, self.input_size, self.units = kind, input_size, units
        self.num_layers, self.dropout_rate = num_layers, dropout
        self.dropout = Dropout(dropout, name="dropout")
        self.layers_ = [self._layer(number) for number in range(num_layers)]
        width = input_size
        for layer in self.layers_:
            layer.build((None, None, width))
            width = self.width
        self.built = True

    def _layer(self, number: int):
        name = f"level_{number}"
        made = getattr(keras.layers, _LAYERS[self.kind])
        if self.kind != "bilstm":
            return made(self.units, return_sequences=True, dtype=self.dtype_policy, name=name)
        inner = made(self.units, return_sequences=True, dtype=self.dtype_policy, name="lstm")
        return keras.layers.Bidirectional(inner, dtype=self.dtype_policy, name=name)

    @property
    def width(self) -> int:
        """The size of a state."""
        return self.units * (2 if self.kind == "bilstm" else 1)

    def call(self, x, is_real, training=False):
        first = ops.arange(ops.shape(is_real)[1]) == 0  # cuDNN refuses a row without any token: an empty text
        mask = ops.logical_or(ops.cast(is_real, "bool"), first)
        for layer in self.layers_:
            x = layer(self.dropout(x, training=training), mask=mask, training=training)
        return x

    def pooled(self, states, is_real):
        """One vector for each row, (B, U or 2 · U): the state behind the last token; of a bilstm the largest values.

        Zeros for a row without tokens.
        """
        if self.kind == "bilstm":
            return max_of_real(states, is_real)
        last = ops.maximum(ops.sum(ops.cast(is_real, "int32"), axis=1) - 1, 0)  # (B,)
        some = ops.cast(ops.any(ops.cast(is_real, "bool"), axis=1), states.dtype)  # (B,)
        return ops.take_along_axis(states, last[:, None, None], axis=1)[:, 0] * some[:, None]

    def get_config(self):
        own = {"kind": self.kind, "input_size": self.input_size, "units": self.units}
        return super().get_config() | own | {"num_layers": self.num_layers, "dropout": self.dropout_rate}
