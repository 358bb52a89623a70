class FeedForward(keras.layers.Layer):
    def __init__(self, intermediate_size, **kwargs):
        super().__init__(**kwargs)
        self.intermediate_size = intermediate_size

    def build(self, x_shape):
        self.inner = keras.layers.Dense(self.intermediate_size)
        self.outer = keras.layers.Dense(x_shape[-1])
        self.chain = keras.Sequential([self.inner, keras.layers.Activation(gelu), self.outer])

    def call(self, x):
        return self.chain(x)
