class Dropped(keras.layers.Layer):
    """A sub-layer and the dropout behind it, under the sub-layer's own names."""

    def __init__(self, part, rate):
        super().__init__()
        self.part, self.drop = part, keras.layers.Dropout(rate)

    def __getattr__(self, name):
        if name in ("query", "key", "value", "out", "inner", "outer"):
            return getattr(self.part, name)
        raise AttributeError(name)

    def call(self, x, training=None, **more):
        return self.drop(self.part(x, **more), training=training)


class EncoderLayer(keras.layers.Layer):
    def __init__(self, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.attention = Dropped(MultiHeadAttention(num_heads), dropout)
        self.feed_forward = Dropped(FeedForward(intermediate_size), dropout)
        self.attention_norm, self.output_norm = LayerNorm(), LayerNorm()

    def call(self, x, attention_mask=None, training=None):
        x = self.attention_norm(x + self.attention(x, training=training, attention_mask=attention_mask))
        return self.output_norm(x + self.feed_forward(x, training=training))
