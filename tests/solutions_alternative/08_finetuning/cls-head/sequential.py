class ClassificationHead(keras.layers.Layer):
    """Two layers in a row that are one thing."""

    def __init__(self, num_labels, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.dense = keras.layers.Dense(num_labels)
        self.steps = keras.Sequential([keras.layers.Dropout(dropout), self.dense])

    def call(self, hidden, training=None):
        return self.steps(hidden[:, 0], training=training)
