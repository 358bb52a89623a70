class EncoderLayer(keras.layers.Layer):
    def __init__(self, num_heads, intermediate_size, dropout=0.1):
        super().__init__()
        self.rate = dropout
        self.attention = MultiHeadAttention(num_heads)
        self.attention_norm = LayerNorm()
        self.feed_forward = FeedForward(intermediate_size)
        self.output_norm = LayerNorm()

    def call(self, x, attention_mask=None, training=None):
        middle = self.attention_norm(residual(x, self.attention(x, attention_mask), self.rate, training))
        return self.output_norm(residual(middle, self.feed_forward(middle), self.rate, training))
