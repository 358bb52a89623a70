class EncoderLayer(keras.layers.Layer):
    def __init__(self, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.num_heads, self.intermediate_size, self.rate = num_heads, intermediate_size, dropout

    def build(self, x_shape):
        self.attention, self.feed_forward = MultiHeadAttention(self.num_heads), FeedForward(self.intermediate_size)
        self.attention_norm, self.output_norm = LayerNorm(), LayerNorm()
        self.drop = keras.layers.Dropout(self.rate)

    def call(self, x, attention_mask=None, training=None):
        steps = [
            (lambda y: self.attention(y, attention_mask=attention_mask), self.attention_norm),
            (self.feed_forward, self.output_norm),
        ]
        for find, normalise in steps:
            x = normalise(x + self.drop(find(x), training=training))
        return x
