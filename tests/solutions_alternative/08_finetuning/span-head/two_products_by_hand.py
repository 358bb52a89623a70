MASKED_SCORE = -1e9


class SpanHead(keras.layers.Layer):
    """The vectors S and E are the columns of the kernel."""

    def build(self, hidden_shape, *others):
        self.dense = keras.layers.Dense(2)
        self.dense.build(hidden_shape)

    def call(self, hidden, may_answer):
        start, end = ops.unstack(self.dense.kernel, axis=1)
        rows = [ops.matmul(hidden, vector) + self.dense.bias[side] for side, vector in enumerate((start, end))]
        return ops.stack([ops.where(may_answer, row, MASKED_SCORE) for row in rows], axis=1)
