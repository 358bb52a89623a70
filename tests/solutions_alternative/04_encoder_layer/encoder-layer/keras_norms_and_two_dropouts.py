class EncoderLayer(keras.layers.Layer):
    def __init__(self, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.attention = MultiHeadAttention(num_heads)
        self.feed_forward = FeedForward(intermediate_size)
        self.attention_norm = keras.layers.LayerNormalization(epsilon=1e-12)
        self.output_norm = keras.layers.LayerNormalization(epsilon=1e-12)
        self.first_drop, self.second_drop = keras.layers.Dropout(dropout), keras.layers.Dropout(dropout)

    def call(self, x, attention_mask=None, training=None):
        a = self.attention_norm(x + self.first_drop(self.attention(x, attention_mask), training=training))
        return self.output_norm(a + self.second_drop(self.feed_forward(a), training=training))
