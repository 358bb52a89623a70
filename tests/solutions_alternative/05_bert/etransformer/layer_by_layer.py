class ETransformer(keras.layers.Layer):
    def __init__(self, vocab_size, d_e, num_layers, num_heads, d_mlp, max_length):
        super().__init__()
        self.token, self.position = (keras.layers.Embedding(rows, d_e) for rows in (vocab_size, max_length))
        self.encoder = Encoder(num_layers, num_heads, d_mlp)
        self.final = FinalLayers(vocab_size)

    def call(self, x):
        e = self.token(x) + self.position(ops.cumsum(ops.ones_like(x), axis=1) - 1)
        for layer in self.encoder.layers_:
            e = layer(e)
        return self.final(e)
