class Encoder(keras.layers.Layer):
    def __init__(self, num_layers, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.layers_ = []
        for _ in range(num_layers):
            self.layers_.append(EncoderLayer(num_heads, intermediate_size, dropout=dropout))

    def call(self, x, attention_mask=None, training=None):
        states = [x]
        for layer in self.layers_:
            states.append(layer(states[-1], attention_mask=attention_mask, training=training))
        return states[-1]
