class Bert(keras.layers.Layer):
    def __init__(
        self, vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions=512, dropout=0.1
    ):
        super().__init__()
        self.embeddings = BertEmbeddings(vocab_size, hidden_size, max_positions, dropout=dropout)
        self.encoder = Encoder(num_layers, num_heads, intermediate_size, dropout)
        self.pooler = Pooler()

    def call(self, token_ids, token_type_ids, attention_mask, training=None):
        texts = []
        for place in range(token_ids.shape[0]):
            ids, segments, real = (t[place : place + 1] for t in (token_ids, token_type_ids, attention_mask))
            x = self.embeddings(ids, segments, training=training)
            texts.append(self.encoder(x, attention_mask=padding_mask(real), training=training))
        hidden = ops.concatenate(texts, axis=0)
        return hidden, self.pooler(hidden)
