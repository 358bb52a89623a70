class MultiHeadAttention(keras.layers.Layer):
    def __init__(self, num_heads, **kwargs):
        super().__init__(**kwargs)
        self.num_heads = num_heads

    def build(self, x_shape):
        hidden = x_shape[-1]
        self.query, self.key, self.value, self.out = (keras.layers.Dense(hidden) for _ in range(4))

    def call(self, x, attention_mask=None):
        if attention_mask is None:
            attention_mask = ops.ones((1, 1, x.shape[1]), dtype="bool")
        cut = [ops.split(dense(x), self.num_heads, axis=-1) for dense in (self.query, self.key, self.value)]
        return self.out(concat_heads([masked_attention(q, k, v, attention_mask) for q, k, v in zip(*cut)]))
