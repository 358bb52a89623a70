class ClassificationHead(keras.layers.Layer):
    """`dense` is a holder of two weights, and the product is written out."""

    def __init__(self, num_labels, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.num_labels, self.dropout = num_labels, keras.layers.Dropout(dropout)

    def build(self, hidden_shape):
        self.dense = keras.layers.Layer(name="dense")
        self.dense.kernel = self.dense.add_weight(shape=(hidden_shape[-1], self.num_labels), name="kernel")
        self.dense.bias = self.dense.add_weight(shape=(self.num_labels,), initializer="zeros", name="bias")

    def call(self, hidden, training=None):
        cls = self.dropout(hidden[:, 0, :], training=training)
        return ops.matmul(cls, self.dense.kernel) + self.dense.bias
