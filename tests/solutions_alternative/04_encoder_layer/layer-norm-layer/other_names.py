class LayerNorm(keras.layers.Layer):
    def __init__(self, epsilon=1e-12, **kwargs):
        super().__init__(**kwargs)
        self.epsilon = epsilon

    def build(self, x_shape):
        for name, start in (("scale", "ones"), ("offset", "zeros")):
            setattr(self, name, self.add_weight(shape=(x_shape[-1],), initializer=start, name=name))
        super().build(x_shape)

    def call(self, x):
        deviations = ops.subtract(x, ops.mean(x, -1, True))
        power = ops.einsum("...d,...d->...", deviations, deviations) / x.shape[-1]
        unit = ops.divide(deviations, ops.expand_dims(ops.sqrt(power + self.epsilon), -1))
        return ops.add(ops.multiply(unit, self.scale), self.offset)
