class ClassificationHead(keras.layers.Layer):
    def __init__(self, num_labels, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.dropout = keras.layers.Dropout(dropout)
        self.dense = keras.layers.EinsumDense("bh,hc->bc", output_shape=num_labels, bias_axes="c")

    def call(self, hidden, training=None):
        cls, *_ = ops.unstack(hidden, axis=1)
        return self.dense(self.dropout(cls, training=training))
