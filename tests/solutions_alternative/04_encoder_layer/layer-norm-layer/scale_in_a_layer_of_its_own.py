class Affine(keras.layers.Layer):
    """A scale and an offset."""

    def build(self, shape):
        self.scale = self.add_weight(shape=(shape[-1],), initializer="ones")
        self.offset = self.add_weight(shape=(shape[-1],), initializer="zeros")

    def call(self, x):
        return x * self.scale + self.offset


class LayerNorm(keras.layers.Layer):
    def __init__(self, epsilon=1e-12, **kwargs):
        super().__init__(**kwargs)
        self.epsilon = epsilon
        self.affine = Affine()

    def build(self, x_shape):
        self.affine.build(x_shape)

    @property
    def gamma(self):
        return self.affine.scale

    @property
    def beta(self):
        return self.affine.offset

    def call(self, x):
        mean, variance = ops.moments(x, axes=[-1], keepdims=True)
        return self.affine((x - mean) / ops.sqrt(variance + self.epsilon))
