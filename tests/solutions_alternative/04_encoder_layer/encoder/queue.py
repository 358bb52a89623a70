class Encoder(keras.layers.Layer):
    def __init__(self, num_layers, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        options = {"num_heads": num_heads, "intermediate_size": intermediate_size, "dropout": dropout}
        self.layers_ = tuple(EncoderLayer(**options) for _ in range(num_layers))

    def call(self, x, attention_mask=None, training=None):
        waiting = list(self.layers_)
        while waiting:
            x = waiting.pop(0)(x, attention_mask=attention_mask, training=training)
        return x
