class ETransformer(keras.Model):
    def __init__(self, vocab_size, d_e, num_layers, num_heads, d_mlp, max_length):
        super().__init__()
        self.token = keras.layers.Embedding(vocab_size, d_e)
        self.position = keras.layers.Embedding(max_length, d_e)
        self.position.build()
        self.encoder = Encoder(num_layers, num_heads, d_mlp)
        self.final = FinalLayers(vocab_size)

    def call(self, x):
        length = x.shape[1]
        return self.final(self.encoder(self.token(x) + self.position.embeddings[:length]))
