"""One encoder layer, and the stack of them (Vaswani et al. 2017, section 3.1; Devlin et al. 2019, section 3).

Letters: B batch, T tokens, P positions, A heads, H hidden size.
"""

import keras

from bertlab.layers.attention import MultiHeadAttention
from bertlab.layers.base import Layer
from bertlab.layers.dropout import Dropout
from bertlab.layers.feed_forward import FeedForward
from bertlab.layers.gathering import gather_positions
from bertlab.layers.masks import rows_at
from bertlab.layers.normalization import LayerNormalization


@keras.saving.register_keras_serializable("bertlab")
class EncoderLayer(Layer):
    """Self-attention, then the feed-forward network, each with dropout, a residual connection and a LayerNorm.

    post-LN (BERT):           x = LN(x + Dropout(SubLayer(x)))
    pre-LN (`pre_norm=True`): x = x + Dropout(SubLayer(LN(x)))

    Args:
        num_heads: A.   intermediate_size: width inside the feed-forward network.
        dropout: rate after each sub-layer.   attention_dropout: rate on the attention weights (BERT: 0.1).
        activation, layer_norm_eps, initializer_range, pre_norm: as in `BertConfig`.

    Parts: `attention`, `attention_norm`, `feed_forward`, `output_norm`.

    Call: x (B, T, H); attention_mask, bool, broadcasting to (B, T, T) or (B, A, T, T). Returns (B, T, H), or with
    `return_weights=True` that and the attention weights (B, A, T, T). With positions (B, P) int only these positions
    are computed, (B, P, H): they still attend to all T tokens.

    Example:
        >>> layer = EncoderLayer(num_heads=2, intermediate_size=32)
        >>> tuple(layer(keras.random.normal((2, 5, 8))).shape)
        (2, 5, 8)
    """

    attention_class = MultiHeadAttention

    def __init__(
        self,
        num_heads: int,
        intermediate_size: int,
        dropout: float = 0.1,
        attention_dropout: float = 0.0,
        activation: str = "gelu",
        layer_norm_eps: float = 1e-12,
        initializer_range: float = 0.02,
        pre_norm: bool = False,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.initializer_range = initializer_range
        self.layer_norm_eps = layer_norm_eps
        self.pre_norm = pre_norm
        dtype = self.dtype_policy
        self.attention = self.attention_class(
            num_heads, attention_dropout, initializer_range, dtype=dtype, name="attention"
        )
        self.attention_drop = Dropout(dropout, dtype=dtype, name="attention_dropout")
        self.attention_norm = LayerNormalization(layer_norm_eps, dtype=dtype, name="attention_norm")
        self.feed_forward = FeedForward(
            intermediate_size, activation, initializer_range, dtype=dtype, name="feed_forward"
        )
        self.feed_forward_drop = Dropout(dropout, dtype=dtype, name="feed_forward_dropout")
        self.output_norm = LayerNormalization(layer_norm_eps, dtype=dtype, name="output_norm")

    def build(self, input_shape):
        for layer in (self.attention, self.attention_norm, self.feed_forward, self.output_norm):
            layer.build(input_shape)

    def call(self, x, attention_mask=None, training=False, return_weights=False, positions=None):
        memory = queries = self.before(x, self.attention_norm)  # (B, T, H)
        if positions is not None:
            x, queries = gather_positions(x, positions), gather_positions(memory, positions)  # (B, P, H)
            attention_mask = rows_at(attention_mask, positions)
        options = dict(training=training, return_weights=return_weights)
        attended = self.attention(queries, memory=memory, attention_mask=attention_mask, **options)
        attended, *weights = attended if return_weights else (attended,)
        x = self.after(x, self.attention_drop(attended, training=training), self.attention_norm)
        x = self.transformed(x, training)
        return (x, *weights) if return_weights else x

    def extend(self, x, cache, start, attention_mask=None):
        """The next tokens of rows whose keys and values are kept: (x, cache); see `MultiHeadAttention.extend`."""
        queries = self.before(x, self.attention_norm)
        attended, *cache = self.attention.extend(queries, *cache, start, attention_mask)
        return self.transformed(self.after(x, attended, self.attention_norm)), tuple(cache)

    def before(self, x, norm):
        """The input of a sub-layer."""
        return norm(x) if self.pre_norm else x

    def after(self, x, y, norm):
        """x with the output y of a sub-layer."""
        return x + y if self.pre_norm else norm(x + y)

    def transformed(self, x, training=False):
        """The second sub-layer: x (B, T, H) → (B, T, H)."""
        y = self.feed_forward(self.before(x, self.output_norm))
        return self.after(x, self.feed_forward_drop(y, training=training), self.output_norm)

    def attention_scores(self, x):
        """The scores that self-attention computes from the layer's input, before mask and softmax, float32.

        x (B, T, H) → (B, A, T, T).
        """
        return self.attention.scores(self.before(x, self.attention_norm))

    def flops(self, tokens: int, queries: int) -> int:
        """Operations of the products for one row, of which only `queries` positions are computed."""
        return self.attention.flops(queries, tokens) + self.feed_forward.flops(queries)


class Stack(Layer):
    """Layers one after the other: the list `layers_`, and behind them the LayerNorm `final_norm`, or None."""

    final_norm = None

    def build(self, input_shape):
        for layer in self.layers_:
            layer.build(input_shape)
        if self.final_norm is not None:
            self.final_norm.build(input_shape)

    def passed(self) -> list:
        """The layers in the order in which the tokens go through them."""
        return self.layers_

    def through(self, x, layers, options, return_all: bool):
        """The result of `call`. options: the keyword arguments of each of the layers.

        With `return_all` a tuple: the output, the hidden states, and for each tensor of weights that a layer returns a
        list of those of all layers.
        """
        hidden_states, all_weights = [x], []
        for layer, own in zip(layers, options, strict=True):
            x = layer(x, **own, return_weights=return_all)
            x, *weights = x if return_all else (x,)
            hidden_states.append(x)
            all_weights.append(weights)
        if self.final_norm is not None:
            x = hidden_states[-1] = self.final_norm(x)
        return (x, hidden_states, *map(list, zip(*all_weights, strict=True))) if return_all else x

    def flops(self, tokens: int, num_positions: int) -> int:
        """Operations of the products for one row, of which the last layer computes only so many positions."""
        *before, last = self.passed()
        return sum(layer.flops(tokens, tokens) for layer in before) + last.flops(tokens, num_positions)


@keras.saving.register_keras_serializable("bertlab")
class Encoder(Stack):
    """L encoder layers, one after the other; in pre-LN with a last LayerNorm, since no layer ends with one.

    Args:
        num_layers: L. The others as in `EncoderLayer`.

    Parts: the list `layers_`, and in pre-LN `final_norm`.

    Call: x (B, T, H); attention_mask as in `EncoderLayer`. Returns (B, T, H), or with positions (B, P)
    int only these positions, (B, P, H): the last layer computes no others; with `return_all=True` a triple of
    that, the hidden states (a list of L + 1 tensors (B, T, H): the input, then each layer's output) and
    the attention weights (a list of L tensors (B, A, T, T)). With depth only so many of the layers are computed.

    Example:
        >>> encoder = Encoder(num_layers=3, num_heads=2, intermediate_size=32)
        >>> y, hidden_states, attentions = encoder(keras.random.normal((2, 5, 8)), return_all=True)
        >>> len(hidden_states), tuple(attentions[0].shape)
        (4, (2, 2, 5, 5))
    """

    layer_class = EncoderLayer

    def __init__(self, num_layers: int, num_heads: int, intermediate_size: int, dropout: float = 0.1, **kwargs):
        names = ("attention_dropout", "activation", "layer_norm_eps", "initializer_range", "pre_norm")
        options = {name: kwargs.pop(name) for name in names if name in kwargs}
        super().__init__(**kwargs)
        options |= dict(dropout=dropout, dtype=self.dtype_policy)
        self.layers_ = [  # keras.Model already has an attribute `layers`
            self.layer_class(num_heads, intermediate_size, name=f"layer_{i}", **options) for i in range(num_layers)
        ]
        first = self.layers_[0]
        if first.pre_norm:
            self.final_norm = LayerNormalization(first.layer_norm_eps, dtype=self.dtype_policy, name="final_norm")

    def call(self, x, attention_mask=None, training=False, return_all=False, positions=None, depth=None):
        layers = self.passed()[:depth]
        options = [dict(attention_mask=attention_mask, training=training) for _ in layers]
        options[-1]["positions"] = positions
        return self.through(x, layers, options, return_all)

    def extend(self, x, caches, start, attention_mask=None):
        """The next tokens of rows whose keys and values are kept, for a left-to-right model: (x, caches).

        caches: a pair of keys and values (B, S, A, d) for each layer passed; see `MultiHeadAttention.extend`.
        """
        extended = []
        for layer, cache in zip(self.passed(), caches, strict=True):
            x, cache = layer.extend(x, cache, start, attention_mask)
            extended.append(cache)
        return x if self.final_norm is None else self.final_norm(x), extended


@keras.saving.register_keras_serializable("bertlab")
class SharedEncoder(Encoder):
    """L steps through G groups of layers: the first L / G steps use the first group, and so on (Lan et al. 2020,
    "ALBERT", section 3.1; Dehghani et al. 2019).

    A smaller file, but not less arithmetic: every step computes as much as a layer with weights of its own.

    Args:
        num_steps: L.   num_groups: G, at most L.   layers_per_group: layers that one step goes through.
        The others as in `Encoder`.

    Parts: the list `layers_`, G · layers_per_group layers, group by group.

    Call: as `Encoder`; with `return_all=True` there is a hidden state and a tensor of weights for every layer passed.

    Example:
        >>> encoder = SharedEncoder(num_steps=3, num_heads=2, intermediate_size=32)
        >>> y, hidden_states, attentions = encoder(keras.random.normal((2, 5, 8)), return_all=True)
        >>> len(encoder.layers_), len(hidden_states)
        (1, 4)
    """

    def __init__(
        self,
        num_steps: int,
        num_heads: int,
        intermediate_size: int,
        num_groups: int = 1,
        layers_per_group: int = 1,
        **kwargs,
    ):
        super().__init__(num_groups * layers_per_group, num_heads, intermediate_size, **kwargs)
        self.num_steps = num_steps
        self.num_groups = num_groups
        self.layers_per_group = layers_per_group

    def passed(self) -> list:
        order = []
        for step in range(self.num_steps):
            first = step * self.num_groups // self.num_steps * self.layers_per_group
            order += self.layers_[first : first + self.layers_per_group]
        return order
