class FeedForward(keras.layers.Layer):
    def __init__(self, intermediate_size, **kwargs):
        super().__init__(**kwargs)
        self.intermediate_size = intermediate_size

    def build(self, x_shape):
        self.inner = keras.layers.Conv1D(self.intermediate_size, kernel_size=1)
        self.outer = keras.layers.Conv1D(x_shape[-1], kernel_size=1)

    def call(self, x):
        return self.outer(gelu(self.inner(x)))
