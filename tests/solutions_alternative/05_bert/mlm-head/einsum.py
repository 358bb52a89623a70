class MlmHead(keras.layers.Layer):
    def __init__(self, vocab_size):
        super().__init__()
        self.norm = LayerNorm()
        self.bias = self.add_weight(shape=(vocab_size,), initializer="zeros")

    def build(self, hidden_shape, table_shape):
        self.dense = keras.layers.Dense(hidden_shape[-1], activation=gelu)

    def call(self, hidden, table):
        return ops.einsum("bth,vh->btv", self.norm(self.dense(hidden)), table) + self.bias
