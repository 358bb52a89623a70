class Pooler(keras.layers.Layer):
    def build(self, hidden_shape):
        self.dense = keras.layers.Dense(hidden_shape[-1])

    def call(self, hidden):
        return keras.activations.tanh(self.dense(ops.take(hidden, 0, axis=1)))
