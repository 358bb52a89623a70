# Wrong answers to the exercises of notebook 02 that the checks must find; known mistakes with a name are in the catalogue.
# A cell has the set-up and the answers before it in the notebook. It must never earn all points, whatever the inputs.

# %% token-embeddings: a batch of one loses its axis
def token_embeddings(token_ids, w_e):
    return ops.squeeze(ops.one_hot(token_ids, w_e.shape[0]) @ w_e)

# %% unshuffle: the second axis
def unshuffle(y, order):
    return ops.take(y, ops.argsort(order), axis=0 if len(y.shape) == 2 else 1)

# %% segment-ids: [SEP] is always 3
def segment_ids(token_ids, sep_id, pad_id):
    here = ops.cast(ops.equal(token_ids, 3), "int32")
    before = ops.cumsum(here, axis=-1) - here
    return before * ops.cast(ops.not_equal(token_ids, pad_id), "int32")

# %% segment-ids: [PAD] is always 0
def segment_ids(token_ids, sep_id, pad_id):
    here = ops.cast(ops.equal(token_ids, sep_id), "int32")
    before = ops.cumsum(here, axis=-1) - here
    return ops.cast(ops.logical_and(before > 0, token_ids != 0), "int32")

# %% input-embeddings: eight positions again and again
def input_embeddings(token_ids, token_type_ids, w_e, w_s, w_p):
    places = ops.take(w_p, ops.arange(token_ids.shape[-1]) % 8, axis=0)
    return token_embeddings(token_ids, w_e) + token_embeddings(token_type_ids, w_s) + places

# %% bert-embeddings: one more bias
class BertEmbeddings(keras.layers.Layer):
    def __init__(self, vocab_size, hidden_size, max_positions=512, num_segments=2, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        sizes = {"token": vocab_size, "segment": num_segments, "position": max_positions}
        for name, size in sizes.items():
            spread = keras.initializers.TruncatedNormal(stddev=0.02)
            setattr(self, name, keras.layers.Embedding(size, hidden_size, embeddings_initializer=spread))
        self.norm = keras.layers.LayerNormalization(epsilon=1e-12)
        self.drop = keras.layers.Dropout(dropout)
        self.bias = self.add_weight(shape=(hidden_size,), initializer="zeros")

    def call(self, token_ids, token_type_ids, training=None):
        x = self.token(token_ids) + self.segment(token_type_ids) + self.position(ops.arange(token_ids.shape[1]))
        return self.drop(self.norm(x + self.bias), training=training)
