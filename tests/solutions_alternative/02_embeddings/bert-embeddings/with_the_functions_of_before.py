class BertEmbeddings(keras.layers.Layer):
    def __init__(self, vocab_size, hidden_size, max_positions=512, num_segments=2, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.token = self.add_weight(shape=(vocab_size, hidden_size), name="token")
        self.segment = self.add_weight(shape=(num_segments, hidden_size), name="segment")
        self.position = self.add_weight(shape=(max_positions, hidden_size), name="position")
        self.norm = keras.layers.LayerNormalization(epsilon=1e-12)
        self.rate, self.seeds = dropout, keras.random.SeedGenerator(0)

    def call(self, token_ids, token_type_ids, training=None):
        tables = (ops.convert_to_tensor(table) for table in (self.token, self.segment, self.position))
        x = self.norm(input_embeddings(token_ids, token_type_ids, *tables))
        if not training or self.rate == 0:
            return x
        kept = keras.random.uniform(ops.shape(x), seed=self.seeds) >= self.rate
        return ops.where(kept, x / (1 - self.rate), 0.0)
