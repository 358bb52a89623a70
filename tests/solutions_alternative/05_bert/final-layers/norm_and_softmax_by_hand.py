class FinalLayers(keras.layers.Layer):
    def __init__(self, vocab_size, **kwargs):
        super().__init__(**kwargs)
        self.columns = vocab_size

    def build(self, x_shape):
        self.dense = keras.layers.Dense(x_shape[-1])
        self.dense.build(x_shape)
        self.norm = LayerNorm()
        self.norm.build(x_shape)
        self.unembedding = self.add_weight(shape=(x_shape[-1], self.columns))

    def call(self, x):
        x = gelu(x @ self.dense.kernel + self.dense.bias)
        centred = x - ops.mean(x, axis=-1, keepdims=True)
        x = centred * ops.rsqrt(ops.mean(centred**2, axis=-1, keepdims=True) + 1e-12)
        scores = (x * self.norm.gamma + self.norm.beta) @ self.unembedding
        powers = ops.exp(scores - ops.max(scores, axis=-1, keepdims=True))
        return powers / ops.sum(powers, axis=-1, keepdims=True)
