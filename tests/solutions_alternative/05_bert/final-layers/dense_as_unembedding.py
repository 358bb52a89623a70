class FinalLayers(keras.layers.Layer):
    def __init__(self, vocab_size):
        super().__init__()
        self.norm = LayerNorm()
        self.unembedding = keras.layers.Dense(vocab_size, use_bias=False, activation="softmax")

    def build(self, x_shape):
        self.dense = keras.layers.Dense(x_shape[-1], activation=gelu)

    def call(self, x):
        return self.unembedding(self.norm(self.dense(x)))
