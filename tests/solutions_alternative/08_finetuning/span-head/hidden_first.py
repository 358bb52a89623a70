MASKED_SCORE = -1e9


class SpanHead(keras.layers.Layer):
    """Hides before it exchanges the axes."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.dense = keras.layers.Dense(2)

    def call(self, hidden, may_answer):
        logits = ops.where(may_answer[..., None], self.dense(hidden), MASKED_SCORE)
        return ops.swapaxes(logits, 1, 2)
