class ETransformer(keras.layers.Layer):
    def __init__(self, vocab_size, d_e, num_layers, num_heads, d_mlp, max_length):
        super().__init__()
        self.token = keras.layers.Embedding(vocab_size, d_e)
        self.position = keras.layers.Embedding(max_length, d_e)
        self.encoder = Encoder(num_layers, num_heads, d_mlp)
        self.final = FinalLayers(vocab_size)

    def call(self, x):
        results = []
        for text in ops.unstack(x):
            e = ops.stack(
                [
                    self.token(token) + self.position(ops.convert_to_tensor(t))
                    for t, token in enumerate(ops.unstack(text))
                ]
            )
            results.append(self.final(self.encoder(e[None])))
        return ops.concatenate(results)
