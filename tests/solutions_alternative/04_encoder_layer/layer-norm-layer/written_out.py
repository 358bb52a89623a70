class LayerNorm(keras.layers.Layer):
    def __init__(self, epsilon=1e-12, **kwargs):
        super().__init__(**kwargs)
        self.epsilon = epsilon

    def build(self, x_shape):
        size = x_shape[-1:]
        self.gamma = self.add_weight(shape=size, initializer=keras.initializers.Ones())
        self.beta = self.add_weight(shape=size, initializer=keras.initializers.Zeros())

    def call(self, x):
        centred = x - ops.mean(x, axis=-1, keepdims=True)
        variance = ops.mean(centred * centred, axis=-1, keepdims=True)
        return centred * ops.rsqrt(variance + self.epsilon) * self.gamma + self.beta
