class BertEmbeddings(keras.Model):
    def __init__(self, vocab_size, hidden_size, max_positions=512, num_segments=2, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.token = keras.layers.Embedding(vocab_size, hidden_size)
        self.segment = keras.layers.Embedding(num_segments, hidden_size)
        self.position = keras.layers.Embedding(max_positions, hidden_size)
        self.position.build((None,))
        self.norm = keras.layers.LayerNormalization(axis=-1, epsilon=1e-12)
        self.drop = keras.layers.Dropout(dropout)

    def call(self, token_ids, token_type_ids, training=None):
        tokens = token_ids.shape[-1]
        found = sum([self.token(token_ids), self.segment(token_type_ids), self.position.embeddings[:tokens]])
        return self.drop(self.norm(found), training=training)
