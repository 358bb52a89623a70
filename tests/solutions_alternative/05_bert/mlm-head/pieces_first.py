class MlmHead(keras.layers.Layer):
    def __init__(self, vocab_size, **kwargs):
        super().__init__(**kwargs)
        self.pieces = vocab_size

    def build(self, hidden_shape, table_shape=None):
        self.dense = keras.layers.Dense(hidden_shape[-1])
        self.norm = keras.layers.LayerNormalization(epsilon=1e-12)
        self.bias = self.add_weight(shape=(self.pieces,), name="bias")

    def call(self, hidden, table):
        x = self.norm(gelu(self.dense(hidden)))
        upright = ops.matmul(table, ops.swapaxes(x, 1, 2)) + self.bias[:, None]
        return ops.swapaxes(upright, 1, 2)
