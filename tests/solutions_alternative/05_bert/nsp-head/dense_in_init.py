class NspHead(keras.layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.dense = keras.layers.Dense(units=2)

    def call(self, pooled):
        logits = self.dense(pooled)
        return logits
