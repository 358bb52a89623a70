from types import SimpleNamespace


class FinalLayers(keras.layers.Layer):
    def __init__(self, vocab_size, **kwargs):
        super().__init__(**kwargs)
        self.vocab_size = vocab_size

    def build(self, x_shape):
        d = x_shape[-1]
        self.w_f, self.b_f = self.add_weight(shape=(d, d)), self.add_weight(shape=(d,), initializer="zeros")
        self.dense = SimpleNamespace(kernel=self.w_f, bias=self.b_f)
        self.norm = LayerNorm()
        self.norm.build(x_shape)
        self.unembedding = self.add_weight(shape=(d, self.vocab_size))

    def call(self, x):
        x = self.norm(gelu(ops.einsum("btd,de->bte", x, self.w_f) + self.b_f))
        return ops.softmax(ops.einsum("btd,dv->btv", x, self.unembedding))
