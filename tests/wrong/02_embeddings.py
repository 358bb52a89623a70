# Wrong answers to the exercises of notebook 02 that the checks must find; known mistakes with a name are in the catalogue.
# A cell has the set-up and the answers before it in the notebook. It must never earn all points, whatever the inputs.

# %% token-embeddings: a batch of one loses its axis
def token_embeddings(token_ids, w_e):
    return ops.squeeze(ops.one_hot(token_ids, w_e.shape[0]) @ w_e)

# %% token-embeddings: ids in 16 bits
def token_embeddings(token_ids, w_e):
    ids = ops.cast(ops.expand_dims(token_ids, -1), "float16")
    one_hot = ops.cast(ids == ops.cast(ops.arange(w_e.shape[0]), "float16"), w_e.dtype)
    return ops.matmul(one_hot, w_e)

# %% token-embeddings: gathered by another function
import tensorflow as tf


def token_embeddings(token_ids, w_e):
    return tf.gather_nd(w_e, token_ids[..., None])

# %% unshuffle: the second axis
def unshuffle(y, order):
    return ops.take(y, ops.argsort(order), axis=0 if len(y.shape) == 2 else 1)

# %% sinusoids: 512 positions again and again
def sinusoids(length, d_e):
    position = ops.expand_dims(ops.arange(length, dtype="float32") % 512, axis=1)
    pair = ops.arange(d_e // 2, dtype="float32")
    angles = position / 10000 ** (2 * pair / d_e)
    return ops.reshape(ops.stack([ops.sin(angles), ops.cos(angles)], axis=-1), (length, d_e))

# %% sinusoids: positions in 16 bits
def sinusoids(length, d_e):
    positions = np.arange(length).astype("float16").astype("float64")[:, None]
    angles = positions / 10000 ** (np.arange(0, d_e, 2) / d_e)
    table = np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, d_e)
    return ops.convert_to_tensor(table.astype("float32"))

# %% sinusoids: the first table of each width is kept
tables_of = {}


def sinusoids(length, d_e):
    if d_e not in tables_of:
        angles = np.arange(length)[:, None] / 10000 ** (np.arange(0, d_e, 2) / d_e)
        table = np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, d_e)
        tables_of[d_e] = ops.convert_to_tensor(table.astype("float32"))
    return tables_of[d_e][:length]

# %% sinusoids: a table of 5,000 positions
def sinusoids(length, d_e):
    angles = np.arange(5000)[:, None] / 10000 ** (np.arange(0, d_e, 2) / d_e)
    table = np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(5000, d_e)
    return ops.convert_to_tensor(table[:length].astype("float32"))

# %% position-similarity: a small number is added to the lengths
def cosine_similarities(x):
    unit = x / (ops.sqrt(ops.sum(ops.square(x), axis=-1, keepdims=True)) + 1e-8)
    return ops.matmul(unit, ops.swapaxes(unit, -1, -2))

# %% position-similarity: products of lengths not below 1e-8
def cosine_similarities(x):
    n = ops.sqrt(ops.sum(ops.square(x), axis=-1, keepdims=True))
    return ops.matmul(x, ops.swapaxes(x, -1, -2)) / ops.maximum(n * ops.swapaxes(n, -1, -2), 1e-8)

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

# %% learned-positions: no gradient
def learned_positions(length, w_p):
    table = ops.convert_to_numpy(w_p)
    if length > len(table):
        raise ValueError(f"the table has {len(table)} positions, not {length}")
    return ops.convert_to_tensor(table[:length])

# %% learned-positions: a table of 512 rows at most
def learned_positions(length, w_p):
    if length > min(512, w_p.shape[0]):
        raise ValueError(f"{length} tokens, at most {w_p.shape[0]} positions")
    return w_p[:length]

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

# %% segment-ids: all of B where there is no [SEP]
def segment_ids(token_ids, sep_id, pad_id):
    first = ops.argmax(ops.cast(token_ids == sep_id, "int32"), axis=1)[:, None]
    after = ops.arange(token_ids.shape[1], dtype=first.dtype)[None] > first
    return ops.cast(ops.logical_and(after, token_ids != pad_id), "int32")

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

# %% input-embeddings: no segment vector where all are 0
def input_embeddings(token_ids, token_type_ids, w_e, w_s, w_p):
    x = token_embeddings(token_ids, w_e) + learned_positions(token_ids.shape[1], w_p)
    if bool(ops.any(token_type_ids != 0)):
        x = x + token_embeddings(token_type_ids, w_s)
    return x

# %% input-embeddings: no gradient for the positions
def input_embeddings(token_ids, token_type_ids, w_e, w_s, w_p):
    positions = ops.stop_gradient(learned_positions(token_ids.shape[1], w_p))
    return token_embeddings(token_ids, w_e) + token_embeddings(token_type_ids, w_s) + positions

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

# %% bert-embeddings: only name and trainable are handed on
class BertEmbeddings(keras.layers.Layer):
    def __init__(self, vocab_size, hidden_size, max_positions=512, num_segments=2, dropout=0.1, **kwargs):
        super().__init__(name=kwargs.get("name"), trainable=kwargs.get("trainable", True))
        normal = keras.initializers.TruncatedNormal
        self.token = keras.layers.Embedding(vocab_size, hidden_size, embeddings_initializer=normal(stddev=0.02))
        self.segment = keras.layers.Embedding(num_segments, hidden_size, embeddings_initializer=normal(stddev=0.02))
        self.position = keras.layers.Embedding(max_positions, hidden_size, embeddings_initializer=normal(stddev=0.02))
        self.norm = keras.layers.LayerNormalization(epsilon=1e-12)
        self.dropout = keras.layers.Dropout(dropout)

    def call(self, token_ids, token_type_ids, training: bool | None=None):
        x = self.token(token_ids) + self.segment(token_type_ids) + self.position(ops.arange(ops.shape(token_ids)[1]))
        return self.dropout(self.norm(x), training=training)
