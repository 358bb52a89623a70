class MlmHead(keras.layers.Layer):
    def __init__(self, vocab_size, **kwargs):
        super().__init__(**kwargs)
        self.bias = self.add_weight(shape=(vocab_size,), initializer="zeros")

    def build(self, hidden_shape, table_shape=None):
        self.dense = keras.layers.Dense(hidden_shape[-1])
        self.norm = LayerNorm()

    def call(self, hidden, table):
        x = self.norm(gelu(self.dense(hidden)))
        columns = [ops.sum(x * row, axis=-1) + b for row, b in zip(ops.unstack(table), ops.unstack(self.bias))]
        return ops.stack(columns, axis=-1)
