from types import SimpleNamespace


class MlmHead(keras.layers.Layer):
    def __init__(self, vocab_size, **kwargs):
        super().__init__(**kwargs)
        self.vocab_size = vocab_size

    def build(self, hidden_shape, table_shape=None):
        h = hidden_shape[-1]
        self.matrix, self.offset = self.add_weight(shape=(h, h)), self.add_weight(shape=(h,))
        self.dense = SimpleNamespace(kernel=self.matrix, bias=self.offset)
        self.norm = LayerNorm()
        self.norm.build(hidden_shape)
        self.bias = self.add_weight(shape=(self.vocab_size,))

    def call(self, hidden, table):
        x = gelu(hidden @ self.matrix + self.offset)
        return self.norm(x) @ ops.transpose(table) + self.bias
