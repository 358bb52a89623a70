from functools import reduce


class Encoder(keras.layers.Layer):
    def __init__(self, num_layers, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.layers_ = list(map(lambda _: EncoderLayer(num_heads, intermediate_size, dropout), range(num_layers)))

    def call(self, x, attention_mask=None, training=None):
        return reduce(lambda y, layer: layer(y, attention_mask, training=training), self.layers_, x)
