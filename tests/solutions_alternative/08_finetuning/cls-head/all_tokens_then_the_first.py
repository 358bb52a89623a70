class ClassificationHead(keras.layers.Layer):
    """Logits of every token, of which only the first row of each text is kept."""

    def __init__(self, num_labels, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.dense = keras.layers.Dense(num_labels)
        self.dropout = keras.layers.Dropout(dropout)

    def call(self, hidden, training=None):
        logits = self.dense(self.dropout(hidden, training=training))
        return logits[:, 0]
