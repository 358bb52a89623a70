"""A vector for each token from its characters: a convolution, highway layers and a projection.

Sources: Kim et al. 2016, "Character-Aware Neural Language Models", section 2.2; Srivastava et al. 2015, "Highway
Networks"; the numbers of the bytes and the initial values are those of allenai/bilm-tf, data.py and training.py.

Letters: B batch, T tokens, C characters of a token, E size of a character's vector, F filters, P dimensions out,
V vocabulary.
"""

from collections.abc import Iterable, Sequence

import keras
import numpy as np
from keras import ops

from bertlab.layers.activations import get_activation
from bertlab.layers.base import Layer

# A character is a byte of UTF-8, 0 to 255, or one of five signs.
BEGIN_SENTENCE, END_SENTENCE, BEGIN_WORD, END_WORD, PADDING = range(256, 261)
NUM_CHARACTERS = 261


def character_ids(tokens: Iterable[str], length: int) -> np.ndarray:
    """The characters of some tokens: begin of word, the bytes, end of word, padding; longer tokens are cut.

    length: C. Returns (tokens, C) int32.

    Example:
        >>> character_ids(["hi"], length=6).tolist()
        [[258, 104, 105, 259, 260, 260]]
    """
    tokens = list(tokens)
    table = np.full((len(tokens), length), PADDING, np.int32)
    table[:, 0] = BEGIN_WORD
    for row, token in zip(table, tokens):
        content = token.encode("utf-8", "ignore")[: length - 2]
        row[1 : len(content) + 1] = np.frombuffer(content, np.uint8)
        row[len(content) + 1] = END_WORD
    return table


def characters_of_vocabulary(vocabulary, length: int) -> np.ndarray:
    """The characters of every token of a vocabulary, as it is written there ("##ing" with both signs).

    The token that begins a row and the one that ends a text have signs of their own. Returns (V, C) int32.
    """
    table = character_ids(vocabulary.pieces, length)
    for token, sign in ((vocabulary.cls_id, BEGIN_SENTENCE), (vocabulary.sep_id, END_SENTENCE)):
        table[token] = [BEGIN_WORD, sign, END_WORD] + [PADDING] * (length - 3)
    return table


@keras.saving.register_keras_serializable("bertlab")
class Highway(Layer):
    """g relu(x W + b) + (1 − g) x with the gate g = σ(x W′ + b′), which begins nearly closed: b′ = −2.

    Parts: the Dense layers `transform` and `gate`.

    Call: x (…, F) → (…, F).

    Example:
        >>> tuple(Highway()(ops.ones((2, 8))).shape)
        (2, 8)
    """

    def build(self, input_shape):
        self.width = input_shape[-1]
        self.transform = _dense(self.width, self.width, 0.0, self.dtype_policy, "transform")
        self.gate = _dense(self.width, self.width, -2.0, self.dtype_policy, "gate")
        for layer in (self.transform, self.gate):
            layer.build(input_shape)

    def call(self, x):
        gate = ops.sigmoid(self.gate(x))
        return gate * ops.relu(self.transform(x)) + (1 - gate) * x


def _dense(inputs: int, outputs: int, bias: float, dtype, name: str):
    kernel, constant = keras.initializers.RandomNormal(stddev=inputs**-0.5), keras.initializers.Constant(bias)
    return keras.layers.Dense(outputs, kernel_initializer=kernel, bias_initializer=constant, dtype=dtype, name=name)


@keras.saving.register_keras_serializable("bertlab")
class CharacterCNN(Layer):
    """One vector for each token: the largest value of each filter over the characters, highway layers, a projection.

    Args:
        output_size: P.   character_size: E.
        filters: pairs of a width and a number of filters; the numbers add up to F.
        num_highway: number of highway layers.   activation: of the filters.

    Parts: `table` (261, E); the layers `filters_0`, `filters_1` …, `highway_0` …, and the Dense layer `projection`.

    Call: characters (B, T, C) int → (B, T, P).

    Example:
        >>> cnn = CharacterCNN(output_size=8, character_size=4, filters=((1, 3), (2, 5)))
        >>> tuple(cnn(character_ids(["a", "word"], length=10)[None]).shape)
        (1, 2, 8)
    """

    def __init__(
        self,
        output_size: int,
        character_size: int = 16,
        filters: Sequence[Sequence[int]] = ((1, 32), (2, 32), (3, 64)),
        num_highway: int = 1,
        activation: str = "relu",
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.output_size, self.character_size = output_size, character_size
        self.filters = tuple((int(width), int(count)) for width, count in filters)
        self.num_highway, self.activation = num_highway, activation
        self.num_filters = sum(count for _, count in self.filters)
        dtype, uniform = self.dtype_policy, keras.initializers.RandomUniform(-0.05, 0.05)
        self.convolutions = [
            keras.layers.Conv1D(count, width, kernel_initializer=uniform.clone(), dtype=dtype, name=f"filters_{i}")
            for i, (width, count) in enumerate(self.filters)
        ]
        self.highways = [Highway(dtype=dtype, name=f"highway_{i}") for i in range(num_highway)]
        self.projection = _dense(self.num_filters, output_size, 0.0, dtype, "projection")

    def build(self, input_shape=None):
        self.table = self.add_weight(
            name="table",
            shape=(NUM_CHARACTERS, self.character_size),
            initializer=keras.initializers.RandomUniform(-1.0, 1.0),
        )
        for convolution in self.convolutions:
            convolution.build((None, None, self.character_size))
        for layer in (*self.highways, self.projection):
            layer.build((None, self.num_filters))

    def call(self, characters):
        batch, tokens, length = ops.shape(characters)
        ids = ops.reshape(ops.cast(characters, "int32"), (-1, length))  # (B · T, C)
        x = ops.cast(ops.take(self.table, ids, axis=0), self.compute_dtype)  # (B · T, C, E)
        largest = [ops.max(convolution(x), axis=1) for convolution in self.convolutions]  # each (B · T, filters)
        x = get_activation(self.activation)(ops.concatenate(largest, axis=-1))  # (B · T, F)
        for highway in self.highways:
            x = highway(x)
        return ops.reshape(self.projection(x), (batch, tokens, self.output_size))

    def flops(self, tokens: int, length: int) -> int:
        """Operations of the products for so many tokens of `length` characters."""
        filters = sum((length - width + 1) * width * count for width, count in self.filters) * self.character_size
        dense = self.num_filters * (2 * self.num_highway * self.num_filters + self.output_size)
        return 2 * tokens * (filters + dense)

    def kept_numbers(self, tokens: int, length: int) -> int:
        """Numbers that the backward pass needs: each filter at all positions twice, and the highways' parts."""
        filters = 2 * sum((length - width + 1) * count for width, count in self.filters)
        return tokens * (filters + length * self.character_size + 5 * (1 + self.num_highway) * self.num_filters)
