class ETransformer(keras.layers.Layer):
    def __init__(self, vocab_size, d_e, num_layers, num_heads, d_mlp, max_length):
        super().__init__()
        self.token = keras.layers.Embedding(vocab_size, d_e)
        self.position = keras.layers.Embedding(max_length, d_e)
        self.encoder = Encoder(num_layers, num_heads, d_mlp)
        self.dense = keras.layers.Dense(d_e, activation=gelu)
        self.norm = LayerNorm()
        self.unembedding = keras.layers.Dense(vocab_size, use_bias=False, activation="softmax")

    def call(self, x):
        places = ops.broadcast_to(ops.arange(ops.shape(x)[1]), ops.shape(x))
        x = self.encoder(ops.add(self.token(x), self.position(places)))
        return self.unembedding(self.norm(self.dense(x)))
