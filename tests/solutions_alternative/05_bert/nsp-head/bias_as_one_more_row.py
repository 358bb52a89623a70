class NspHead(keras.layers.Layer):
    def build(self, pooled_shape):
        self.dense = keras.layers.Dense(2)
        self.dense.build(pooled_shape)

    def call(self, pooled):
        taller = ops.concatenate([self.dense.kernel, self.dense.bias[None]], axis=0)
        return ops.pad(pooled, [[0, 0], [0, 1]], constant_values=1.0) @ taller
