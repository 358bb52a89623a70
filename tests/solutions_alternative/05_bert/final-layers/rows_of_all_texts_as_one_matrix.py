class FinalLayers(keras.layers.Layer):
    def __init__(self, vocab_size, **kwargs):
        super().__init__(**kwargs)
        self.vocab_size = vocab_size
        self.norm = keras.layers.LayerNormalization(epsilon=1e-12)

    def build(self, x_shape):
        self.dense = keras.layers.Dense(x_shape[-1])
        self.unembedding = self.add_weight(shape=(x_shape[-1], self.vocab_size), name="w_u")

    def call(self, x):
        batch, tokens, d_e = x.shape
        rows = self.norm(gelu(self.dense(ops.reshape(x, (-1, d_e)))))
        return ops.reshape(ops.softmax(ops.dot(rows, self.unembedding)), (batch, tokens, self.vocab_size))
