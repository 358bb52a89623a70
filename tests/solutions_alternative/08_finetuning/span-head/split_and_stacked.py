MASKED_SCORE = -1e9


class SpanHead(keras.layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.dense = keras.layers.Dense(2)

    def call(self, hidden, may_answer):
        start, end = ops.split(self.dense(hidden), 2, axis=-1)  # (B, T, 1) each
        both = ops.stack([start[..., 0], end[..., 0]], axis=1)
        return ops.where(ops.stack([may_answer, may_answer], axis=1), both, MASKED_SCORE)
