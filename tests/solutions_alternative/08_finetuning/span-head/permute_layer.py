MASKED_SCORE = -1e9


class SpanHead(keras.layers.Layer):
    """Keras has a layer for exchanging axes; hidden tokens get a very large penalty added."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.dense = keras.layers.Dense(2)
        self.turn = keras.layers.Permute((2, 1))

    def call(self, hidden, may_answer):
        logits = self.turn(self.dense(hidden))
        return ops.where(ops.logical_not(may_answer)[:, None], ops.full_like(logits, MASKED_SCORE), logits)
