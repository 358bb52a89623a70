class MultiHeadAttention(keras.layers.Layer):
    def __init__(self, num_heads, **kwargs):
        super().__init__(**kwargs)
        self.num_heads = num_heads

    def build(self, x_shape):
        for name in ("query", "key", "value", "out"):
            dense = keras.layers.Dense(x_shape[-1])
            dense.build(x_shape)
            setattr(self, name, dense)

    def call(self, x, attention_mask=None):
        batch, tokens, hidden = x.shape
        size = hidden // self.num_heads
        q, k, v = (
            ops.reshape(dense(x), (batch, tokens, self.num_heads, size)) for dense in (self.query, self.key, self.value)
        )
        scores = ops.einsum("btad,bsad->bats", q, k) / size**0.5
        if attention_mask is not None:
            scores = scores + (1.0 - ops.cast(attention_mask, "float32"))[:, None] * -1e9
        found = ops.einsum("bats,bsad->btad", ops.softmax(scores), v)
        return self.out(ops.reshape(found, (batch, tokens, hidden)))
