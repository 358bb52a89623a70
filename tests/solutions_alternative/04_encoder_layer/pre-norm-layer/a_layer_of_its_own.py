class PreNormEncoderLayer(keras.layers.Layer):
    def __init__(self, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.attention, self.feed_forward = MultiHeadAttention(num_heads), FeedForward(intermediate_size)
        self.attention_norm = keras.layers.LayerNormalization(epsilon=1e-12)
        self.output_norm = keras.layers.LayerNormalization(epsilon=1e-12)
        self.drop = keras.layers.Dropout(dropout)

    def call(self, x, attention_mask=None, training=None):
        y = x + self.drop(self.attention(self.attention_norm(x), attention_mask=attention_mask), training=training)
        return y + self.drop(self.feed_forward(self.output_norm(y)), training=training)
