class Projection(keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.units = units

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], self.units), name="kernel")
        self.bias = self.add_weight(shape=(self.units,), initializer="zeros", name="bias")

    def call(self, x):
        return x @ self.kernel + self.bias


class MultiHeadAttention(keras.layers.Layer):
    def __init__(self, num_heads):
        super().__init__()
        self.num_heads = num_heads

    def build(self, x_shape):
        self.query, self.key, self.value, self.out = (Projection(x_shape[-1]) for _ in range(4))

    def split(self, x):
        return ops.stack(ops.split(x, self.num_heads, axis=-1), axis=1)

    def call(self, x, attention_mask=None):
        scores = attention_scores(self.split(self.query(x)), self.split(self.key(x)))
        if attention_mask is not None:
            scores = ops.where(ops.expand_dims(attention_mask, 1), scores, MASKED_SCORE)
        found = softmax_rows(scores) @ self.split(self.value(x))
        return self.out(concat_heads(ops.unstack(found, axis=1)))
