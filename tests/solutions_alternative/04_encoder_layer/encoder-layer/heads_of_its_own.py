class Heads(keras.layers.Layer):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def build(self, shape):
        size = shape[-1] // self.number
        self.query, self.key, self.value = ([keras.layers.Dense(size) for _ in range(self.number)] for _ in range(3))
        self.out = keras.layers.Dense(shape[-1])

    def call(self, x, mask_of_keys=None):
        found = []
        for query, key, value in zip(self.query, self.key, self.value):
            scores = ops.einsum("btd,bsd->bts", query(x), key(x)) / query.units**0.5
            scores = scores if mask_of_keys is None else ops.where(mask_of_keys, scores, -1e9)
            found.append(ops.softmax(scores) @ value(x))
        return self.out(ops.concatenate(found, axis=-1))


class EncoderLayer(keras.layers.Layer):
    def __init__(self, num_heads, intermediate_size, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.attention, self.feed_forward = Heads(num_heads), FeedForward(intermediate_size)
        self.attention_norm, self.output_norm = LayerNorm(), LayerNorm()
        self.chance = keras.layers.Dropout(dropout)

    def call(self, x, attention_mask=None, training=None):
        x = self.attention_norm(x + self.chance(self.attention(x, attention_mask), training=training))
        return self.output_norm(x + self.chance(self.feed_forward(x), training=training))
