class MultiHeadAttention(keras.layers.Layer):
    def __init__(self, num_heads, **kwargs):
        super().__init__(**kwargs)
        self.num_heads = num_heads

    def build(self, x_shape):
        size = x_shape[-1] // self.num_heads
        self.query = [keras.layers.Dense(size) for _ in range(self.num_heads)]
        self.key = [keras.layers.Dense(size) for _ in range(self.num_heads)]
        self.value = [keras.layers.Dense(size) for _ in range(self.num_heads)]
        self.out = keras.layers.Dense(x_shape[-1])

    def call(self, x, attention_mask=None):
        found = []
        for query, key, value in zip(self.query, self.key, self.value):
            scores = attention_scores(query(x), key(x))
            scores = scores if attention_mask is None else ops.where(attention_mask, scores, MASKED_SCORE)
            found.append(softmax_rows(scores) @ value(x))
        return self.out(ops.concatenate(found, axis=-1))
