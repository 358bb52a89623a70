class Pooler(keras.layers.Layer):
    def build(self, hidden_shape):
        self.dense = keras.layers.Dense(hidden_shape[-1])

    def call(self, hidden):
        return ops.concatenate([ops.tanh(self.dense(text[:1])) for text in ops.unstack(hidden)])
