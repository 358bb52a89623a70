class FinalLayers(keras.layers.Layer):
    def __init__(self, vocab_size, **kwargs):
        super().__init__(**kwargs)
        self.vocab_size = vocab_size

    def build(self, x_shape):
        d_e = x_shape[-1]
        self.dense, self.norm = keras.layers.Dense(d_e), LayerNorm()
        self.unembedding = keras.layers.Dense(self.vocab_size, use_bias=False)
        self.steps = [self.dense, keras.layers.Activation(gelu), self.norm, self.unembedding, keras.layers.Softmax()]

    def call(self, x):
        for step in self.steps:
            x = step(x)
        return x
