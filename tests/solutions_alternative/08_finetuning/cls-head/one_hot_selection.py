class ClassificationHead(keras.layers.Layer):
    """A row of weights that is 1 for [CLS] and 0 for the others picks its vector."""

    def __init__(self, num_labels, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.num_labels, self.rate = num_labels, dropout

    def build(self, hidden_shape):
        self.dense = keras.layers.Dense(self.num_labels)
        self.dense.build((hidden_shape[0], hidden_shape[-1]))
        self.dropout = keras.layers.Dropout(self.rate)

    def call(self, hidden, training=None):
        chosen = ops.one_hot(0, hidden.shape[1], dtype=hidden.dtype)  # (T,)
        cls = ops.einsum("t,bth->bh", chosen, hidden)
        return self.dense(self.dropout(cls, training=training))
