class NspHead(keras.layers.Layer):
    def build(self, pooled_shape):
        self.dense = keras.layers.Dense(2)
        self.dense.build(pooled_shape)

    def call(self, pooled):
        return ops.matmul(pooled, self.dense.kernel) + self.dense.bias
