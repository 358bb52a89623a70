class PreNormEncoderLayer(EncoderLayer):
    def call(self, x, attention_mask=None, training=None):
        def attend(y):
            return self.attention(y, attention_mask=attention_mask)

        for normalise, find in ((self.attention_norm, attend), (self.output_norm, self.feed_forward)):
            x = x + self.dropout(find(normalise(x)), training=training)
        return x
