class Bert(keras.layers.Layer):
    def __init__(
        self, vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions=512, dropout=0.1
    ):
        super().__init__()
        self.embeddings = BertEmbeddings(vocab_size, hidden_size, max_positions, dropout=dropout)
        self.encoder = Encoder(num_layers, num_heads, intermediate_size, dropout)
        self.pooler = Pooler()

    def call(self, token_ids, token_type_ids, attention_mask, training=None):
        seen = ops.cast(attention_mask, "bool")[:, None, :]
        h = self.encoder(self.embeddings(token_ids, token_type_ids, training=training), seen, training=training)
        return h, self.pooler(h)
