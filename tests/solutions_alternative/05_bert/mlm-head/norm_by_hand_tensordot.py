class MlmHead(keras.layers.Layer):
    def __init__(self, vocab_size, **kwargs):
        super().__init__(**kwargs)
        self.vocab_size = vocab_size

    def build(self, hidden_shape, table_shape=None):
        self.dense, self.norm = keras.layers.Dense(hidden_shape[-1]), LayerNorm()
        self.norm.build(hidden_shape)
        self.bias = self.add_weight(shape=(self.vocab_size,))

    def call(self, hidden, table):
        x = gelu(self.dense(hidden))
        mean, variance = ops.moments(x, axes=[-1], keepdims=True)
        x = (x - mean) / ops.sqrt(variance + 1e-12) * self.norm.gamma + self.norm.beta
        return ops.tensordot(x, table, axes=[[2], [1]]) + self.bias
