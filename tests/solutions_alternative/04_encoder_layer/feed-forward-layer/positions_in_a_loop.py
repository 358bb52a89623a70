class FeedForward(keras.layers.Layer):
    def __init__(self, intermediate_size, **kwargs):
        super().__init__(**kwargs)
        self.inner = keras.layers.Dense(intermediate_size, activation=gelu)

    def build(self, x_shape):
        self.outer = keras.layers.Dense(x_shape[-1])

    def call(self, x):
        return ops.stack([self.outer(self.inner(position)) for position in ops.unstack(x, axis=1)], axis=1)
