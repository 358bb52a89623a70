"""Stands in for what notebook 04 builds."""

import keras
from keras import ops

from bertlab import layers
from bertlab.layers.activations import gelu

__all__ = ["Encoder", "EncoderLayer", "FeedForward", "LayerNorm", "gelu"]


class LayerNorm(layers.LayerNormalization):
    """The notebook's layer, `LayerNorm(epsilon=1e-12)`: weights gamma and beta."""


class FeedForward(layers.FeedForward):
    """The notebook's layer, `FeedForward(intermediate_size)`: inner, GELU, outer."""

    inner = property(lambda self: self.expand)
    outer = property(lambda self: self.contract)


class _Attention(layers.MultiHeadAttention):
    """The library's attention under the notebook's names for its projections."""

    query = property(lambda self: self.query_projection)
    key = property(lambda self: self.key_projection)
    value = property(lambda self: self.value_projection)
    out = property(lambda self: self.output_projection)


class EncoderLayer(layers.EncoderLayer):
    """The notebook's layer, `EncoderLayer(num_heads, intermediate_size, dropout=0.1)`: post-LN, lines 6-9.

    Sub-layers: attention, attention_norm, feed_forward, output_norm.
    call: x (batch, tokens, hidden); attention_mask None or booleans (batch, 1 or tokens, tokens); training
    returns (batch, tokens, hidden)
    """

    output_norm = property(lambda self: self.feed_forward_norm)

    def __init__(self, num_heads, intermediate_size, dropout=0.1, **kwargs):
        kwargs.setdefault("attention_dropout", 0.0)
        super().__init__(num_heads, intermediate_size, dropout=dropout, **kwargs)
        del self.attention, self.feed_forward  # the same parts again, under the notebook's names
        self.attention = _Attention(num_heads, self.attention_dropout, dtype=self.dtype_policy, name="attention")
        self.feed_forward = FeedForward(intermediate_size, dtype=self.dtype_policy, name="feed_forward")

    def call(self, x, attention_mask=None, training=None):
        if attention_mask is not None:
            attention_mask = ops.expand_dims(attention_mask, axis=1)  # (B, 1, 1 or T, T)
        return super().call(x, attention_mask=attention_mask, training=bool(training))


class Encoder(keras.layers.Layer):
    """The notebook's stack, `Encoder(num_layers, num_heads, intermediate_size, dropout=0.1)`, in the list `layers_`.

    call: as `EncoderLayer`
    """

    def __init__(self, num_layers, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.layers_ = [
            EncoderLayer(num_heads, intermediate_size, dropout, dtype=self.dtype_policy, name=f"layer_{i}")
            for i in range(num_layers)
        ]

    def build(self, x_shape):
        for layer in self.layers_:
            layer.build(x_shape)

    def call(self, x, attention_mask=None, training=None):
        for layer in self.layers_:
            x = layer(x, attention_mask=attention_mask, training=training)
        return x

    def compute_output_shape(self, x_shape):
        return x_shape
