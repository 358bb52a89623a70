MASKED_SCORE = -1e9


class SpanHead(keras.layers.Layer):
    """Arithmetic with 0 and 1 in place of a choice."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.dense = keras.layers.Dense(2, name="start_and_end")

    def call(self, hidden, may_answer):
        logits = ops.moveaxis(self.dense(hidden), -1, 1)
        may = ops.cast(may_answer, logits.dtype)[:, None, :]
        return logits * may + MASKED_SCORE * (1 - may)
