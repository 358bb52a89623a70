class Network(keras.layers.Layer):
    def __init__(self, size):
        super().__init__()
        self.inner = keras.layers.Dense(size, activation="gelu")

    def build(self, shape):
        self.outer = keras.layers.Dense(shape[-1])

    def call(self, x):
        return self.outer(self.inner(x))


class EncoderLayer(keras.layers.Layer):
    def __init__(self, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.attention, self.feed_forward = MultiHeadAttention(num_heads), Network(intermediate_size)
        self.attention_norm, self.output_norm = LayerNorm(), LayerNorm()
        self.rate = dropout

    def drop(self, x, training):
        return keras.random.dropout(x, self.rate) if training else x

    def call(self, x, attention_mask=None, training=False):
        x = self.attention_norm(self.drop(self.attention(x, attention_mask=attention_mask), training) + x)
        return self.output_norm(self.drop(self.feed_forward(x), training) + x)
