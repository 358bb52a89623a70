class Encoder(keras.layers.Layer):
    def __init__(self, num_layers, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.num_layers, self.options = num_layers, (num_heads, intermediate_size, dropout)

    def build(self, x_shape):
        self.layers_ = []
        for number in range(self.num_layers):
            self.layers_.append(EncoderLayer(*self.options, name=f"layer_{number}"))
            self.layers_[-1].build(x_shape)

    def call(self, x, attention_mask=None, training=None):
        for index in range(self.num_layers):
            x = self.layers_[index](x, attention_mask=attention_mask, training=training)
        return x
