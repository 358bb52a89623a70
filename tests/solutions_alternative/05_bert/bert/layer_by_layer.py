class Bert(keras.layers.Layer):
    def __init__(
        self, vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions=512, dropout=0.1
    ):
        super().__init__()
        self.embeddings = BertEmbeddings(vocab_size, hidden_size, max_positions, 2, dropout)
        self.encoder = Encoder(num_layers, num_heads, intermediate_size, dropout)
        self.pooler = Pooler()

    def call(self, token_ids, token_type_ids, attention_mask, training=None):
        states = [self.embeddings(token_ids, token_type_ids, training=training)]
        for layer in self.encoder.layers_:
            states.append(layer(states[-1], attention_mask=padding_mask(attention_mask), training=training))
        return states[-1], self.pooler(states[-1])
