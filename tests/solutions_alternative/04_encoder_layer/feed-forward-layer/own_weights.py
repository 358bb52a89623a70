class Linear(keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.units = units

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], self.units), initializer="glorot_uniform")
        self.bias = self.add_weight(shape=(self.units,), initializer="zeros")

    def call(self, x):
        return x @ self.kernel + self.bias


class FeedForward(keras.layers.Layer):
    def __init__(self, intermediate_size):
        super().__init__()
        self.inner = Linear(intermediate_size)
        self.size = intermediate_size

    def build(self, x_shape):
        self.outer = Linear(x_shape[-1])
        self.inner.build(x_shape)
        self.outer.build((self.size,))

    def call(self, x):
        return self.outer(gelu(self.inner(x)))
