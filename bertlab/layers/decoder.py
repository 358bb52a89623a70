"""One decoder layer, and the stack of them (Vaswani et al. 2017, section 3.1).

Letters: B batch, U target tokens, S source tokens, A heads, d head size, H hidden size.
"""

import keras
from keras import ops

from bertlab.layers.attention import MultiHeadAttention
from bertlab.layers.dropout import Dropout
from bertlab.layers.encoder import Encoder, EncoderLayer
from bertlab.layers.masks import causal_mask, combine
from bertlab.layers.normalization import LayerNormalization


@keras.saving.register_keras_serializable("bertlab")
class DecoderLayer(EncoderLayer):
    """Masked self-attention, attention to the encoder's output, feed-forward network; each with dropout, a residual
    connection and a LayerNorm, behind the sub-layer or (`pre_norm=True`) before it.

    A token never sees those behind it: the layer makes that mask itself.

    Args: as in `EncoderLayer`; by default the activation of 2017, ReLU, and ε 1e-6 in LayerNorm.

    Parts: `attention`, `attention_norm`, `cross_attention`, `cross_norm`, `feed_forward`, `output_norm`.

    Call: x (B, U, H); memory (B, S, H), the output of the encoder; attention_mask, bool, broadcasting to (B, U, U), and
    memory_mask, bool, broadcasting to (B, U, S), True where a token may be attended to. Returns (B, U, H), or with
    `return_weights=True` that, the weights of self-attention (B, A, U, U) and of cross-attention (B, A, U, S).

    Example:
        >>> layer = DecoderLayer(num_heads=2, intermediate_size=32)
        >>> tuple(layer(keras.random.normal((2, 5, 8)), keras.random.normal((2, 7, 8))).shape)
        (2, 5, 8)
    """

    def __init__(
        self, num_heads: int, intermediate_size: int, dropout: float = 0.1, attention_dropout: float = 0.0, **kwargs
    ):
        kwargs = {"activation": "relu", "layer_norm_eps": 1e-6} | kwargs
        super().__init__(num_heads, intermediate_size, dropout, attention_dropout, **kwargs)
        options = dict(dtype=self.dtype_policy)
        self.cross_attention = MultiHeadAttention(
            num_heads, attention_dropout, self.initializer_range, name="cross_attention", **options
        )
        self.cross_drop = Dropout(dropout, name="cross_dropout", **options)
        self.cross_norm = LayerNormalization(self.layer_norm_eps, name="cross_norm", **options)

    def build(self, x_shape, memory_shape=None):
        super().build(x_shape)
        self.cross_attention.build(x_shape, memory_shape or x_shape)
        self.cross_norm.build(x_shape)

    def call(self, x, memory, attention_mask=None, memory_mask=None, training=False, return_weights=False):
        options = dict(training=training, return_weights=return_weights)
        mask = combine(causal_mask(ops.shape(x)[1]), attention_mask)
        attended = self.attention(self.before(x, self.attention_norm), attention_mask=mask, **options)
        attended, *own = attended if return_weights else (attended,)
        x = self.after(x, self.attention_drop(attended, training=training), self.attention_norm)  # (B, U, H)

        queries = self.before(x, self.cross_norm)
        crossed = self.cross_attention(queries, memory=memory, attention_mask=memory_mask, **options)
        crossed, *cross = crossed if return_weights else (crossed,)
        x = self.after(x, self.cross_drop(crossed, training=training), self.cross_norm)  # (B, U, H)
        x = self.transformed(x, training)
        return (x, *own, *cross) if return_weights else x

    def remember(self, memory):
        """The keys and values of cross-attention, which are the same for every token: a pair of (B, S, A, d)."""
        cross = self.cross_attention
        return cross.split_heads(cross.key(memory)), cross.split_heads(cross.value(memory))

    def extend(self, x, cache, start, attention_mask=None, remembered=None, memory_mask=None):
        """The next tokens of rows whose keys and values are kept: (x, cache); see `MultiHeadAttention.extend`.

        remembered: what `remember` returned.
        """
        queries = self.before(x, self.attention_norm)
        attended, *cache = self.attention.extend(queries, *cache, start, attention_mask)
        x = self.after(x, attended, self.attention_norm)

        query = self.cross_attention.split_heads(self.cross_attention.query(self.before(x, self.cross_norm)))
        crossed = self.cross_attention.attend(query, *remembered, memory_mask, False, False)
        return self.transformed(self.after(x, crossed, self.cross_norm)), tuple(cache)

    def flops(self, tokens: int, memory_tokens: int) -> int:
        """Operations of the products for one row of so many target and source tokens."""
        return super().flops(tokens, tokens) + self.cross_attention.flops(tokens, memory_tokens)


@keras.saving.register_keras_serializable("bertlab")
class Decoder(Encoder):
    """N decoder layers, one after the other, all of which read the last output of the encoder; in pre-LN with a last
    LayerNorm.

    Args:
        num_layers: N. The others as in `DecoderLayer`.

    Parts: the list `layers_`, and in pre-LN `final_norm`.

    Call: as `DecoderLayer`. Returns (B, U, H), or with `return_all=True` that, the hidden states (N + 1 tensors
    (B, U, H)), the weights of self-attention (N tensors (B, A, U, U)) and of cross-attention (N tensors (B, A, U, S)).

    Example:
        >>> decoder = Decoder(num_layers=3, num_heads=2, intermediate_size=32)
        >>> tuple(decoder(keras.random.normal((2, 5, 8)), keras.random.normal((2, 7, 8))).shape)
        (2, 5, 8)
    """

    layer_class = DecoderLayer

    def build(self, x_shape, memory_shape=None):
        for layer in self.layers_:
            layer.build(x_shape, memory_shape)
        if self.final_norm is not None:
            self.final_norm.build(x_shape)

    def call(self, x, memory, attention_mask=None, memory_mask=None, training=False, return_all=False):
        options = dict(memory=memory, attention_mask=attention_mask, memory_mask=memory_mask, training=training)
        return self.through(x, self.layers_, [options] * len(self.layers_), return_all)

    def remember(self, memory) -> list:
        """The keys and values of cross-attention for each layer; see `DecoderLayer.remember`."""
        return [layer.remember(memory) for layer in self.layers_]

    def extend(self, x, caches, start, attention_mask=None, remembered=(), memory_mask=None):
        """The next tokens of rows whose keys and values are kept: (x, caches); see `DecoderLayer.extend`."""
        extended = []
        for layer, cache, kept in zip(self.layers_, caches, remembered, strict=True):
            x, cache = layer.extend(x, cache, start, attention_mask, kept, memory_mask)
            extended.append(cache)
        return x if self.final_norm is None else self.final_norm(x), extended

    def flops(self, tokens: int, memory_tokens: int) -> int:
        """Operations of the products for one row of so many target and source tokens."""
        return sum(layer.flops(tokens, memory_tokens) for layer in self.layers_)
