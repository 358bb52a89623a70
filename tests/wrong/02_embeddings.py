# Wrong answers to the exercises of notebook 02 that the checks must find; known mistakes with a name are in the catalogue.
# A cell has the set-up and the answers before it in the notebook. It must never earn all points, whatever the inputs.

# %% token-embeddings: a batch of one loses its axis
def token_embeddings(token_ids, w_e):
    return ops.squeeze(ops.one_hot(token_ids, w_e.shape[0]) @ w_e)

# %% unshuffle: the second axis
def unshuffle(y, order):
    return ops.take(y, ops.argsort(order), axis=0 if len(y.shape) == 2 else 1)

# %% sinusoids: 512 positions again and again
def sinusoids(length, d_e):
    position = ops.expand_dims(ops.arange(length, dtype="float32") % 512, axis=1)
    pair = ops.arange(d_e // 2, dtype="float32")
    angles = position / 10000 ** (2 * pair / d_e)
    return ops.reshape(ops.stack([ops.sin(angles), ops.cos(angles)], axis=-1), (length, d_e))

# %% learned-positions: as long as the longer side of the table
def learned_positions(length, w_p):
    if length > max(w_p.shape):
        raise ValueError("too long")
    return w_p[:length]

# %% learned-positions: remembered by shapes
_places = {}


def learned_positions(length, w_p):
    if length > w_p.shape[0]:
        raise ValueError("too long")
    n = length, tuple(w_p.shape)
    if n not in _places:
        _places[n] = w_p[:length]
    return _places[n]

# %% segment-ids: the dtype of the ids instead of int32
def segment_ids(token_ids, sep_id, pad_id):
    is_sep = ops.cast(token_ids == sep_id, token_ids.dtype)
    before = ops.cumsum(is_sep, axis=1) - is_sep
    return ops.where(token_ids == pad_id, ops.zeros_like(token_ids), before)


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

# %% input-embeddings: positions remembered by shapes
_places = {}


def input_embeddings(token_ids, token_type_ids, w_e, w_s, w_p):
    n = token_ids.shape[-1], tuple(w_p.shape)
    if n not in _places:
        _places[n] = learned_positions(n[0], w_p)
    return token_embeddings(token_ids, w_e) + token_embeddings(token_type_ids, w_s) + _places[n]

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
