class Bert(keras.layers.Layer):
    def __init__(
        self,
        vocab_size,
        hidden_size,
        num_layers,
        num_heads,
        intermediate_size,
        max_positions=512,
        dropout=0.1,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.dictionary = (vocab_size, hidden_size, max_positions, 2, dropout)
        self.stack = (num_layers, num_heads, intermediate_size, dropout)

    def build(self, *shapes, **more):
        self.embeddings, self.encoder, self.pooler = BertEmbeddings(*self.dictionary), Encoder(*self.stack), Pooler()

    def call(self, token_ids, token_type_ids, attention_mask, training=None):
        x = self.embeddings(token_ids, token_type_ids, training=training)
        x = self.encoder(x, attention_mask=padding_mask(attention_mask), training=training)
        return x, self.pooler(x)
