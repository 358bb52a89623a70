class ClassificationHead(keras.layers.Layer):
    def __init__(self, num_labels, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.drop = keras.layers.Dropout(dropout)
        self.dense = keras.layers.Dense(num_labels)

    def call(self, hidden, training=None):
        first = ops.take(hidden, [0], axis=1)  # (B, 1, H)
        return ops.squeeze(self.dense(self.drop(first, training=training)), axis=1)
