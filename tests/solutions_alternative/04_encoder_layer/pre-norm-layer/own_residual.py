class PreNormEncoderLayer(EncoderLayer):
    def __init__(self, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(num_heads, intermediate_size, dropout, **kwargs)
        self.rate = dropout

    def call(self, x, attention_mask=None, training=None):
        x = residual(x, self.attention(self.attention_norm(x), attention_mask), self.rate, training)
        return residual(x, self.feed_forward(self.output_norm(x)), self.rate, training)
