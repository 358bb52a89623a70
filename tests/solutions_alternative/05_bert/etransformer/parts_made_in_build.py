class ETransformer(keras.layers.Layer):
    def __init__(self, vocab_size, d_e, num_layers, num_heads, d_mlp, max_length, **kwargs):
        super().__init__(**kwargs)
        self.sizes = dict(token=vocab_size, position=max_length)
        self.d_e, self.stack = d_e, (num_layers, num_heads, d_mlp)

    def build(self, x_shape):
        for name, rows in self.sizes.items():
            setattr(self, name, keras.layers.Embedding(rows, self.d_e))
        self.encoder = Encoder(*self.stack)
        self.final = FinalLayers(self.sizes["token"])

    def call(self, x):
        looked_up = [self.token(x), self.position(ops.arange(ops.shape(x)[1])[None])]
        return self.final(self.encoder(sum(looked_up)))
