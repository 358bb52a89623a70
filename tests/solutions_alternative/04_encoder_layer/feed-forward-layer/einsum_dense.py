class FeedForward(keras.layers.Layer):
    def __init__(self, intermediate_size, **kwargs):
        super().__init__(**kwargs)
        self.intermediate_size = intermediate_size

    def build(self, x_shape):
        tokens, hidden = x_shape[1:]
        self.inner = keras.layers.EinsumDense("bth,hm->btm", (tokens, self.intermediate_size), bias_axes="m")
        self.outer = keras.layers.EinsumDense("btm,mh->bth", (tokens, hidden), bias_axes="h")

    def call(self, x):
        h = self.inner(x)
        return self.outer(h * 0.5 * (1 + ops.erf(h / 2**0.5)))
