class BertEmbeddings(keras.layers.Layer):
    def __init__(self, vocab_size, hidden_size, max_positions=512, num_segments=2, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.sizes = (vocab_size, num_segments, max_positions)
        self.hidden_size = hidden_size
        self.rate = dropout

    def build(self, token_ids_shape, token_type_ids_shape):
        self.token, self.segment, self.position = (keras.layers.Embedding(n, self.hidden_size) for n in self.sizes)
        self.norm = keras.layers.LayerNormalization(epsilon=1e-12)
        self.drop = keras.layers.Dropout(self.rate)
        for part in (self.token, self.segment, self.position):
            part.build(token_ids_shape)
        self.norm.build((*token_ids_shape, self.hidden_size))

    def call(self, token_ids, token_type_ids, training=None):
        places = ops.broadcast_to(ops.arange(ops.shape(token_ids)[1]), ops.shape(token_ids))
        parts = [self.token(token_ids), self.segment(token_type_ids), self.position(places)]
        return self.drop(self.norm(keras.layers.add(parts)), training=training)
