class MlmHead(keras.layers.Layer):
    def __init__(self, vocab_size, **kwargs):
        super().__init__(**kwargs)
        self.vocab_size = vocab_size

    def build(self, hidden_shape, table_shape=None):
        self.dense, self.norm = keras.layers.Dense(hidden_shape[-1]), LayerNorm()
        self.bias = self.add_weight(shape=(self.vocab_size,))

    def call(self, hidden, table):
        x = self.norm(gelu(self.dense(hidden)))
        x = ops.concatenate([x, ops.ones_like(x[..., :1])], axis=-1)
        wider = ops.concatenate([table, self.bias[:, None]], axis=1)
        return ops.matmul(x, ops.transpose(wider))
