class Pooler(keras.layers.Layer):
    def build(self, hidden_shape):
        self.dense = keras.layers.Dense(hidden_shape[-1])
        self.dense.build((None, hidden_shape[-1]))

    def call(self, hidden):
        first, *_ = ops.unstack(hidden, axis=1)
        return ops.tanh(ops.einsum("bh,hk->bk", first, self.dense.kernel) + self.dense.bias)
