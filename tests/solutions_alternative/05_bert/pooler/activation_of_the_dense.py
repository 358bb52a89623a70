class Pooler(keras.layers.Layer):
    def build(self, hidden_shape):
        self.dense = keras.layers.Dense(hidden_shape[-1], activation="tanh")

    def call(self, hidden):
        return self.dense(hidden[:, 0, :])
