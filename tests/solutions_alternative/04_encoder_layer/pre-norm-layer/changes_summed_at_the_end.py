class PreNormEncoderLayer(EncoderLayer):
    def call(self, x, attention_mask=None, training=None):
        changes = [self.dropout(self.attention(self.attention_norm(x), attention_mask), training=training)]
        middle = ops.add(x, changes[0])
        changes.append(self.dropout(self.feed_forward(self.output_norm(middle)), training=training))
        return x + sum(changes)
