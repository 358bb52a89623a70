class MultiHeadAttention(keras.layers.Layer):
    def __init__(self, num_heads, **kwargs):
        super().__init__(**kwargs)
        self.num_heads = num_heads

    def build(self, x_shape):
        hidden = x_shape[-1]
        self.query = keras.layers.Dense(hidden)
        self.key = keras.layers.Dense(hidden)
        self.value = keras.layers.Dense(hidden)
        self.out = keras.layers.Dense(hidden)

    def call(self, x, attention_mask=None):
        # (A·B, tokens, d): every head of every sentence is a sentence of its own
        q, k, v = (
            ops.concatenate(ops.split(dense(x), self.num_heads, axis=2), axis=0)
            for dense in (self.query, self.key, self.value)
        )
        scores = q @ ops.transpose(k, (0, 2, 1)) / q.shape[-1] ** 0.5
        if attention_mask is not None:
            scores = ops.where(ops.tile(attention_mask, (self.num_heads, 1, 1)), scores, MASKED_SCORE)
        found = softmax_rows(scores) @ v
        return self.out(ops.concatenate(ops.split(found, self.num_heads, axis=0), axis=2))
