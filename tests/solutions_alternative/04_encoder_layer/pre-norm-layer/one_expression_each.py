class PreNormEncoderLayer(EncoderLayer):
    def call(self, x, attention_mask=None, training=None):
        x += self.dropout(self.attention(self.attention_norm(x), attention_mask), training=training)
        x += self.dropout(self.feed_forward(self.output_norm(x)), training=training)
        return x
