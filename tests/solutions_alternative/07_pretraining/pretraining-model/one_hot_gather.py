class PreTrainingModel(keras.Model):
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
        chosen = ops.einsum("bpt,bth->bph", ops.one_hot(positions, hidden.shape[1]), hidden)
        return self.mlm(chosen, self.bert.embeddings.token.embeddings), self.nsp(pooled)
