class MultiHeadAttention(keras.layers.Layer):
    def __init__(self, num_heads, **kwargs):
        super().__init__(**kwargs)
        self.num_heads = num_heads

    def build(self, x_shape):
        hidden = x_shape[-1]
        heads = (None, self.num_heads, hidden // self.num_heads)
        self.query, self.key, self.value = (
            keras.layers.EinsumDense("bth,had->btad", output_shape=heads, bias_axes="ad") for _ in range(3)
        )
        self.out = keras.layers.EinsumDense("btad,adh->bth", output_shape=(None, hidden), bias_axes="h")
        super().build(x_shape)

    def call(self, x, attention_mask=None):
        q, k, v = self.query(x), self.key(x), self.value(x)
        scores = ops.einsum("btad,bsad->bats", q, k) / float(q.shape[-1]) ** 0.5
        if attention_mask is not None:
            scores = ops.where(attention_mask[:, None], scores, MASKED_SCORE)
        return self.out(ops.einsum("bats,bsad->btad", softmax_rows(scores), v))
