class Bert(keras.Model):
    def __init__(self, vocab_size, hidden_size, *stack, max_positions=512, dropout=0.1, **sizes):
        super().__init__()
        sizes = dict(zip(("num_layers", "num_heads", "intermediate_size"), stack)) | sizes
        self.embeddings = BertEmbeddings(vocab_size, hidden_size, max_positions=max_positions, dropout=dropout)
        self.encoder = Encoder(**sizes, dropout=dropout)
        self.pooler = Pooler()

    def call(self, token_ids, token_type_ids, attention_mask, training=None):
        visible = ops.expand_dims(attention_mask > 0, 1)
        hidden = self.embeddings(token_ids, token_type_ids, training=training)
        hidden = self.encoder(hidden, attention_mask=visible, training=training)
        pooled = self.pooler(hidden)
        return (hidden, pooled)
