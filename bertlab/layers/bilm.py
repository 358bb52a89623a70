"""A bidirectional language model: a stack of LSTMs in each direction, which never see each other.

Source: Peters et al. 2018, "Deep contextualized word representations", section 3.1. The residual connection from the
second layer on, and dropout on each layer's input and on the last output: training.py of allenai/bilm-tf.

The vectors of both directions are side by side: the first half of H, P = H / 2, is the forward direction's.

Letters: B batch, T tokens, C characters, L layers, U units of a cell, H hidden size, P = H / 2, V vocabulary.
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
from bertlab.layers.projected_lstm import ProjectedLSTM


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
        x = self._spelled(token_ids) if self.token is None else self.token(token_ids)  # (B, T, P)
        return ops.concatenate([x, x], axis=-1)

    def _spelled(self, token_ids):
        """The vectors of tokens from their characters, (B, T) → (B, T, P).

        A batch with more positions than there are tokens in the vocabulary computes each token of the vocabulary once.
        """
        rows, tokens = token_ids.shape
        if isinstance(rows, int) and isinstance(tokens, int) and rows * tokens > self.vocab_size:
            vectors = self.characters(self.character_ids[None])[0]  # (V, P)
            return ops.take(vectors, token_ids, axis=0)
        return self.characters(ops.take(self.character_ids, token_ids, axis=0))  # of (B, T, C)

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
