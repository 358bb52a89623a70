HIDDEN = -1e9


class SpanHead(keras.layers.Layer):
    """A product that writes the axes in their order at once; its bias stands upright."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.dense = keras.layers.EinsumDense("bth,hs->bst", output_shape=(2, None), bias_axes="s")

    def call(self, hidden, may_answer):
        may = ops.repeat(ops.expand_dims(may_answer, 1), 2, axis=1)
        return ops.where(may, self.dense(hidden), HIDDEN)
