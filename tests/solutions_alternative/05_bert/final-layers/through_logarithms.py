class FinalLayers(keras.layers.Layer):
    def __init__(self, vocab_size, **kwargs):
        super().__init__(**kwargs)
        self.vocab_size = vocab_size

    def build(self, x_shape):
        d_e = x_shape[-1]
        self.dense = keras.layers.Dense(d_e)
        self.norm = LayerNorm()
        self.unembedding = self.add_weight(shape=(d_e, self.vocab_size))

    def call(self, x):
        scores = self.norm(gelu(self.dense(x))) @ self.unembedding
        return ops.exp(scores - ops.logsumexp(scores, axis=-1, keepdims=True))
