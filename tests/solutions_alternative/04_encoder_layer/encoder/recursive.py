class Encoder(keras.layers.Layer):
    def __init__(self, num_layers, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.layers_ = [EncoderLayer(num_heads, intermediate_size, dropout) for _ in range(num_layers)]

    def call(self, x, attention_mask=None, training=None, depth=0):
        if depth == len(self.layers_):
            return x
        x = self.layers_[depth](x, attention_mask=attention_mask, training=training)
        return self.call(x, attention_mask, training, depth + 1)
