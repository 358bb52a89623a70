class PreTrainingModel(keras.layers.Layer):
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
        sizes = (vocab_size, hidden_size, num_layers, num_heads, intermediate_size)
        self.bert = Bert(*sizes, max_positions, dropout)
        self.mlm = MlmHead(vocab_size)
        self.nsp = NspHead()

    def call(self, token_ids, token_type_ids, attention_mask, positions, training=None):
        hidden, pooled = self.bert(token_ids, token_type_ids, attention_mask, training=training)
        return self.mlm(gather_positions(hidden, positions), self.bert.embeddings.token.embeddings), self.nsp(pooled)
