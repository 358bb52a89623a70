class NspHead(keras.layers.Layer):
    def build(self, pooled_shape):
        self.dense = keras.layers.Dense(2)
        self.dense.build(pooled_shape)

    def call(self, pooled):
        w, b = self.dense.kernel, self.dense.bias
        is_next, not_next = (ops.sum(pooled * w[:, c], axis=1) + b[c] for c in (0, 1))
        return ops.stack([is_next, not_next], axis=1)
