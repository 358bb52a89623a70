class FeedForward(keras.layers.Layer):
    def __init__(self, intermediate_size, **kwargs):
        super().__init__(**kwargs)
        self.intermediate_size = intermediate_size

    def build(self, x_shape):
        self.inner = keras.layers.Dense(self.intermediate_size, activation="gelu")
        self.outer = keras.layers.Dense(x_shape[-1])

    def call(self, x):
        return self.outer(self.inner(x))
