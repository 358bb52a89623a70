class BertEmbeddings(keras.layers.Layer):
    def __init__(self, vocab_size, hidden_size, max_positions=512, num_segments=2, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.rows = {"token": vocab_size, "segment": num_segments, "position": max_positions}
        self.hidden_size, self.rate = hidden_size, dropout

    def build(self, token_ids_shape, token_type_ids_shape):
        for name, count in self.rows.items():
            setattr(self, name, self.add_weight(shape=(count, self.hidden_size), name=name))
        self.gamma = self.add_weight(shape=(self.hidden_size,), initializer="ones", name="gamma")
        self.beta = self.add_weight(shape=(self.hidden_size,), initializer="zeros", name="beta")
        self.seeds = keras.random.SeedGenerator()

    def call(self, token_ids, token_type_ids, training=None):
        x = ops.take(self.token, token_ids, axis=0) + ops.take(self.segment, token_type_ids, axis=0)
        x = x + self.position[: token_ids.shape[1]]
        mean, variance = ops.moments(x, axes=[-1], keepdims=True)
        x = (x - mean) / ops.sqrt(variance + 1e-12) * self.gamma + self.beta
        return keras.random.dropout(x, self.rate, seed=self.seeds) if training else x
