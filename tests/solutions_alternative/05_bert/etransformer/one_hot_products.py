class ETransformer(keras.layers.Layer):
    def __init__(self, vocab_size, d_e, num_layers, num_heads, d_mlp, max_length):
        super().__init__()
        self.sizes = vocab_size, max_length
        self.token, self.position = keras.layers.Embedding(vocab_size, d_e), keras.layers.Embedding(max_length, d_e)
        self.encoder, self.final = Encoder(num_layers, num_heads, d_mlp), FinalLayers(vocab_size)

    def build(self, x_shape):
        self.token.build(x_shape)
        self.position.build(x_shape)

    def call(self, x):
        pieces = ops.one_hot(x, self.sizes[0]) @ self.token.embeddings
        places = ops.one_hot(ops.arange(x.shape[1]), self.sizes[1]) @ self.position.embeddings
        return self.final(self.encoder(pieces + places))
