class BertEmbeddings(keras.layers.Layer):
    def __init__(self, vocab_size, hidden_size, max_positions=512, num_segments=2, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.vocab_size, self.num_segments = vocab_size, num_segments
        self.token = keras.layers.Dense(hidden_size, use_bias=False)
        self.segment = keras.layers.Dense(hidden_size, use_bias=False)
        self.position = keras.layers.Dense(hidden_size, use_bias=False)
        self.max_positions = max_positions
        self.norm = keras.layers.LayerNormalization(epsilon=1e-12)
        self.drop = keras.layers.Dropout(dropout)

    def call(self, token_ids, token_type_ids, training=None):
        x = self.token(ops.one_hot(token_ids, self.vocab_size))
        x = x + self.segment(ops.one_hot(token_type_ids, self.num_segments))
        x = x + self.position(ops.eye(token_ids.shape[1], self.max_positions))
        return self.drop(self.norm(x), training=training)
