class LayerNorm(keras.layers.Layer):
    def __init__(self, epsilon=1e-12):
        super().__init__()
        self.epsilon = epsilon

    def build(self, x_shape):
        self.gamma = keras.Variable(ops.ones(x_shape[-1]), name="gamma")
        self.beta = keras.Variable(ops.zeros(x_shape[-1]), name="beta")

    def call(self, x):
        return layer_norm(x, self.gamma, self.beta, self.epsilon)
