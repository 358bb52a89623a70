"""A bidirectional language model: a stack of LSTMs in each direction, which never see each other.

Source: Peters et al. 2018, "Deep contextualized word representations", section 3.1. The residual connection from the
second layer on, and dropout on each layer's input and on the last output: training.py of allenai/bilm-tf.

The vectors of both directions are side by side: the first half of H, P = H / 2, is the forward direction's.

The LSTM's output is projected to a smaller size before it goes back into the gates (Sak et al. 2014, "Long Short-Term
Memory Recurrent Neural Network Architectures for Large Scale Acoustic Modeling", section 2.2, without peepholes here);
its forget gate begins with a bias of 1 (Jozefowicz et al. 2015).

Letters: B batch, T tokens, C characters, L layers, D dimensions in, U units of a cell, H hidden size, P dimensions out
(H / 2), V vocabulary.
"""

import keras
import numpy as np
from keras import ops

from bertlab.common.errors import ConfigError
from bertlab.layers.base import Layer
from bertlab.layers.characters import CharacterCNN, character_ids, characters_of_vocabulary
from bertlab.layers.dropout import Dropout
from bertlab.layers.embeddings import TokenEmbedding
from bertlab.layers.encoder import Stack
from bertlab.layers.gathering import gather_positions, last_real_vectors


@keras.saving.register_keras_serializable("bertlab")
class BiLMEmbeddings(Layer):
    """One vector for each token, the same for both directions; it knows nothing of other tokens or of positions.

    Args:
        vocab_size: V.   hidden_size: H.
        max_characters: C. With None, each token has a row in a table instead of characters.
        initializer_range: of that table.
        cnn: arguments of `CharacterCNN` beside its output size.

    Parts: `token`, a `TokenEmbedding`; or `characters`, a `CharacterCNN`, and the fixed table `character_ids` (V, C)
    from tokens to characters. Until `read_vocabulary`, a token is spelled as its number.

    Call: token_ids (B, T) int → (B, T, H), both halves alike. Segments and positions are taken and not read.

    Example:
        >>> embeddings = BiLMEmbeddings(vocab_size=11, hidden_size=8, max_characters=10)
        >>> tuple(embeddings(ops.array([[3, 1, 10]])).shape)
        (1, 3, 8)
    """

    def __init__(
        self,
        vocab_size: int,
        hidden_size: int,
        max_characters: int | None = 50,
        initializer_range: float = 0.02,
        cnn: dict | None = None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.vocab_size, self.max_characters = vocab_size, max_characters
        width, dtype = hidden_size // 2, self.dtype_policy
        self.token = self.characters = None
        if max_characters is None:
            self.token = TokenEmbedding(vocab_size, width, initializer_range, dtype=dtype, name="token")
        else:
            self.characters = CharacterCNN(width, **(cnn or {}), dtype=dtype, name="characters")

    def build(self, input_shape=None):
        if self.token is not None:
            self.token.build()
            return
        self.characters.build()
        self.character_ids = self.add_weight(
            name="character_ids",
            shape=(self.vocab_size, self.max_characters),
            dtype="int32",
            initializer=_numbers,
            trainable=False,
            autocast=False,
        )

    def read_vocabulary(self, vocabulary) -> None:
        """Enters the characters of every token. Raises ConfigError for more tokens than the table has."""
        if self.characters is None:
            return
        table = characters_of_vocabulary(vocabulary, self.max_characters)
        if len(table) > self.vocab_size:
            raise ConfigError(f"expected a vocabulary of at most {self.vocab_size} tokens, got {len(table)}")
        unused = _numbers((self.vocab_size - len(table), self.max_characters))
        self.character_ids.assign(np.concatenate([table, ops.convert_to_numpy(unused)]))

    def call(self, token_ids, token_type_ids=None, position_ids=None, training=False):
        token_ids = ops.cast(token_ids, "int32")
        rows, tokens = token_ids.shape
        if self.token is not None:
            x = self.token(token_ids)  # (B, T, P)
        elif isinstance(rows, int) and isinstance(tokens, int) and rows * tokens > self.vocab_size:
            every = self.characters(self.character_ids[None])[0]  # (V, P): each token of the vocabulary once
            x = ops.take(every, token_ids, axis=0)
        else:
            x = self.characters(ops.take(self.character_ids, token_ids, axis=0))  # of (B, T, C)
        return ops.concatenate([x, x], axis=-1)

    def flops(self, tokens: int) -> int:
        """Operations of the products for one row of a small batch; a table has none."""
        return 0 if self.characters is None else self.characters.flops(tokens, self.max_characters)

    def kept_numbers(self, tokens: int) -> int:
        """Numbers of one row that the backward pass needs."""
        return 0 if self.characters is None else self.characters.kept_numbers(tokens, self.max_characters)


def _numbers(shape, dtype=None):
    """The characters of tokens that are spelled as their numbers: "0", "1", "2" …"""
    return ops.convert_to_tensor(character_ids(map(str, range(shape[0])), shape[1]), "int32")


@keras.saving.register_keras_serializable("bertlab")
class BiLMLayer(Layer):
    """One LSTM in each direction, on its own half of the vectors.

    Args:
        units, cell_clip, projection_clip: as in `ProjectedLSTM`; the output has the size of the input, and is
            projected where that is not `units`.
        residual: whether the input is added to the output.   dropout: rate on the input.

    Parts: `forward_lstm` and `backward_lstm`.

    Call: x (B, T, H); is_real, starts, ends (B, T) bool as in `ProjectedLSTM`, ends for the backward direction.

    Example:
        >>> tuple(BiLMLayer(units=32)(ops.ones((2, 5, 16))).shape)
        (2, 5, 16)
    """

    def __init__(
        self,
        units: int,
        cell_clip: float | None = None,
        projection_clip: float | None = None,
        residual: bool = False,
        dropout: float = 0.0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.units, self.cell_clip, self.projection_clip = units, cell_clip, projection_clip
        self.residual = residual
        self.input_dropout = Dropout(dropout, dtype=self.dtype_policy, name="dropout")

    def build(self, input_shape):
        width = input_shape[-1] // 2
        projected = None if width == self.units else width
        for name in ("forward_lstm", "backward_lstm"):
            backwards = name.startswith("backward")
            options = (self.units, projected, self.cell_clip, self.projection_clip, backwards)
            lstm = ProjectedLSTM(*options, dtype=self.dtype_policy, name=name)
            lstm.build((*input_shape[:-1], width))
            setattr(self, name, lstm)

    def call(self, x, is_real=None, starts=None, ends=None, training=False):
        x = self.input_dropout(x, training=training)
        forward, backward = ops.split(x, 2, axis=-1)  # (B, T, P)
        y = ops.concatenate(
            [self.forward_lstm(forward, is_real, starts), self.backward_lstm(backward, is_real, ends)], -1
        )
        return x + y if self.residual else y

    def flops(self, tokens: int) -> int:
        """Operations of the products for one row."""
        return self.forward_lstm.flops(tokens) + self.backward_lstm.flops(tokens)


@keras.saving.register_keras_serializable("bertlab")
class BiLMEncoder(Stack):
    """L layers of one LSTM in each direction, with a residual connection around each but the first.

    Args:
        num_layers: L.   dropout: rate on each layer's input and on the last output.
        units, cell_clip, projection_clip: as in `ProjectedLSTM`.

    Part: the list `layers_`.

    Call: x (B, T, H); attention_mask (B, 1, T) bool, False at padding: the backward direction begins at the last real
    token, and padding has the vector 0. With sequence_ids (B, T), 1, 2, 3 … for texts that share a row, each is read
    alone. Returns what `Encoder` returns, with no attention weights at all. Raises ConfigError for an attention mask
    (B, T, T), which a recurrent network cannot follow.

    Example:
        >>> encoder = BiLMEncoder(num_layers=2, units=32)
        >>> y, hidden_states, attentions = encoder(ops.ones((2, 5, 16)), return_all=True)
        >>> tuple(y.shape), len(hidden_states), attentions
        ((2, 5, 16), 3, [])
    """

    reads = ("sequence_ids",)

    def __init__(
        self,
        num_layers: int,
        units: int,
        cell_clip: float | None = None,
        projection_clip: float | None = None,
        dropout: float = 0.0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        dtype = self.dtype_policy
        self.layers_ = [
            BiLMLayer(units, cell_clip, projection_clip, i > 0, dropout, dtype=dtype, name=f"layer_{i}")
            for i in range(num_layers)
        ]
        self.output_dropout = Dropout(dropout, dtype=dtype, name="dropout")

    def call(
        self, x, attention_mask=None, training=False, return_all=False, positions=None, depth=None, sequence_ids=None
    ):
        is_real, starts, ends = _read_masks(attention_mask, sequence_ids)
        hidden_states = [x if is_real is None else x * ops.cast(is_real, x.dtype)[:, :, None]]
        for layer in self.layers_[:depth]:
            x = layer(hidden_states[-1], is_real=is_real, starts=starts, ends=ends, training=training)
            hidden_states.append(x)
        x = self.output_dropout(hidden_states[-1], training=training)
        if positions is not None:
            x = gather_positions(x, positions)  # (B, P, H)
        return (x, hidden_states, []) if return_all else x

    def flops(self, tokens: int, num_positions: int) -> int:
        """Operations of the products for one row; a recurrent network computes every position."""
        return sum(layer.flops(tokens) for layer in self.layers_)


def _read_masks(attention_mask, sequence_ids) -> tuple:
    """Which tokens are real (B, T), and where texts start and end in packed rows; each may be None."""
    if sequence_ids is not None:
        changes = ops.not_equal(sequence_ids[:, 1:], sequence_ids[:, :-1])  # (B, T − 1)
        edge = ops.ones_like(sequence_ids[:, :1], dtype="bool")  # (B, 1)
        return sequence_ids > 0, ops.concatenate([edge, changes], axis=1), ops.concatenate([changes, edge], axis=1)
    if attention_mask is None:
        return None, None, None
    if attention_mask.shape[-2] != 1:
        raise ConfigError(
            "attention_mask: a recurrent network reads every token before a token; expected (batch, tokens), 0 at "
            "padding, got (batch, tokens, tokens)"
        )
    return attention_mask[:, 0], None, None


@keras.saving.register_keras_serializable("bertlab")
class BiLMHead(Layer):
    """Scores every token as the next one, from the forward vector, and as the one before, from the backward vector.

    One matrix for both directions, as published (section 3.1: the softmax layer's parameters are shared). Its initial
    standard deviation is 1 / √P, that of training.py of allenai/bilm-tf: with a smaller one it learns more slowly.

    Arg: vocab_size: V.

    Parts: `unembedding` (P, V) and `bias` (V,).

    Call: x (…, H) → (…, 2, V): of the next token, and of the one before.

    Example:
        >>> tuple(BiLMHead(vocab_size=11)(ops.ones((2, 5, 8))).shape)
        (2, 5, 2, 11)
    """

    tied = False

    def __init__(self, vocab_size: int, **kwargs):
        super().__init__(**kwargs)
        self.vocab_size = vocab_size

    def build(self, hidden_shape, table_shape=None):
        self.width = hidden_shape[-1] // 2
        initializer = keras.initializers.RandomNormal(stddev=self.width**-0.5)
        shape = (self.width, self.vocab_size)
        self.unembedding = self.add_weight(name="unembedding", shape=shape, initializer=initializer)
        self.bias = self.add_weight(name="bias", shape=(self.vocab_size,), initializer="zeros")

    def call(self, hidden, table=None):
        directions = ops.stack(ops.split(hidden, 2, axis=-1), axis=-2)  # (…, 2, P)
        return ops.matmul(directions, ops.cast(self.unembedding, hidden.dtype)) + ops.cast(self.bias, hidden.dtype)

    def flops(self, predictions: int) -> int:
        """Operations of the product for so many predictions; a token has two."""
        return 2 * predictions * self.width * self.vocab_size


@keras.saving.register_keras_serializable("bertlab")
class BothEndsVector(Layer):
    """The forward vector of a row's last real token and the backward vector of its first: each has seen the whole row.

    Call: hidden (B, T, H); attention_mask (B, T) int, 1 for a real token, default all → (B, H).

    Example:
        >>> tuple(BothEndsVector()(ops.ones((2, 5, 8))).shape)
        (2, 8)
    """

    reads = ("attention_mask",)
    needs_all = True

    def call(self, hidden, attention_mask=None):
        forward, backward = ops.split(hidden, 2, axis=-1)  # (B, T, P)
        return ops.concatenate([last_real_vectors(forward, attention_mask), backward[:, 0]], axis=-1)


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
    return ops.repeat(ops.convert_to_tensor([0, 1, 0, 0], dtype), shape[0] // 4)
