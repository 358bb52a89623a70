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
        self.mlm, self.nsp = MlmHead(vocab_size), NspHead()
        self.bert = Bert(*sizes, max_positions=max_positions, dropout=dropout)

    def call(self, token_ids, token_type_ids, attention_mask, positions, training=None):
        everything = self.bert(token_ids, token_type_ids, attention_mask, training=training)
        next_logits = self.nsp(everything[1])
        at_blanks = gather_positions(everything[0], positions)
        return self.mlm(at_blanks, self.bert.embeddings.token.embeddings), next_logits
