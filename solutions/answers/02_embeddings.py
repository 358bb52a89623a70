# Other answers to the exercises of notebook 02: right ones, each of another structure, and wrong ones that the
# checks must find; known mistakes with a name are in the exercises. A cell has the set-up and the answers before it in
# the notebook. A right one must pass whole; a wrong one must never earn all points, whatever the inputs.

# %% token-embeddings: right: einsum
def token_embeddings(token_ids, w_e):
    hits = ops.cast(token_ids[..., None] == ops.arange(w_e.shape[0]), w_e.dtype)
    return ops.einsum("...v,vd->...d", hits, w_e)

# %% token-embeddings: right: flat list of rows
def token_embeddings(token_ids, w_e):
    flat = [int(i) for i in ops.reshape(token_ids, (-1,))]
    picker = np.zeros((len(flat), w_e.shape[0]), "float32")
    picker[np.arange(len(flat)), flat] = 1.0
    rows = ops.matmul(ops.convert_to_tensor(picker), w_e)
    return ops.reshape(rows, (*token_ids.shape, w_e.shape[1]))

# %% token-embeddings: right: library one hot
def token_embeddings(token_ids, w_e):
    return ops.matmul(ops.one_hot(token_ids, w_e.shape[0], dtype=w_e.dtype), w_e)

# %% token-embeddings: right: row by row of the table
def token_embeddings(token_ids, w_e):
    total = 0.0
    for row in range(w_e.shape[0]):
        here = ops.cast(ops.equal(token_ids, row), w_e.dtype)  # (..., tokens)
        total = total + ops.expand_dims(here, -1) * w_e[row]
    return total

# %% token-embeddings: right: scattered ones tensordot
import tensorflow as tf


def token_embeddings(token_ids, w_e):
    return tf.tensordot(tf.one_hot(token_ids, depth=tf.shape(w_e)[0]), w_e, axes=1)

# %% token-embeddings: right: selected with where
def token_embeddings(token_ids, w_e):
    mine = ops.equal(token_ids[..., None, None], ops.arange(w_e.shape[0])[:, None])  # (..., tokens, N_V, 1)
    return ops.sum(ops.where(mine, w_e, 0.0), axis=-2)

# %% token-embeddings: right: idiom of google-research's BERT, one-hot rows times the table
def token_embeddings(token_ids, w_e):
    flat = ops.reshape(token_ids, (-1,))
    found = ops.matmul(ops.one_hot(flat, w_e.shape[0]), w_e)
    return ops.reshape(found, (*token_ids.shape, w_e.shape[-1]))

# %% token-embeddings: wrong: ids in 16 bits
def token_embeddings(token_ids, w_e):
    ids = ops.cast(ops.expand_dims(token_ids, -1), "float16")
    one_hot = ops.cast(ids == ops.cast(ops.arange(w_e.shape[0]), "float16"), w_e.dtype)
    return ops.matmul(one_hot, w_e)

# %% token-embeddings: wrong: gathered by another function
import tensorflow as tf


def token_embeddings(token_ids, w_e):
    return tf.gather_nd(w_e, token_ids[..., None])

# %% unshuffle: right: column by column scatter
def unshuffle(y, order):
    places = {int(token): row for row, token in enumerate(order)}
    return ops.stack([y[..., places[token], :] for token in range(len(places))], axis=-2)

# %% unshuffle: right: einsum
def unshuffle(y, order):
    moved = ops.cast(ops.equal(ops.arange(y.shape[-2])[:, None], order), y.dtype)  # (token, row)
    return ops.einsum("tr,...rd->...td", moved, y)

# %% unshuffle: right: inverse by numpy
def unshuffle(y, order):
    order = np.array(order)
    inverse = np.empty_like(order)
    inverse[order] = np.arange(len(order))
    return ops.take(y, ops.convert_to_tensor(inverse), axis=-2)

# %% unshuffle: right: permutation matrix
def unshuffle(y, order):
    matrix = ops.one_hot(order, y.shape[-2], dtype=y.dtype)  # row r has its 1 at token order[r]
    return ops.matmul(ops.transpose(matrix), y)

# %% unshuffle: right: search for each token
def unshuffle(y, order):
    rows = []
    for token in range(y.shape[-2]):
        row = int(ops.argmax(ops.cast(ops.equal(order, token), "int32")))
        rows.append(y[..., row : row + 1, :])
    return ops.concatenate(rows, axis=-2)

# %% unshuffle: right: sorted pairs
import tensorflow as tf


def unshuffle(y, order):
    by_token = sorted(range(y.shape[-2]), key=lambda row: int(order[row]))
    return tf.gather(y, by_token, axis=-2)

# %% unshuffle: wrong: the second axis
def unshuffle(y, order):
    return ops.take(y, ops.argsort(order), axis=0 if len(y.shape) == 2 else 1)

# %% sinusoids: right: chosen with where
def sinusoids(length, d_e):
    column = ops.arange(d_e)
    rate = 10000.0 ** (ops.cast(2 * (column // 2), "float32") / d_e)
    angles = ops.cast(ops.arange(length), "float32")[:, None] / rate
    return ops.where(column % 2 == 0, ops.sin(angles), ops.cos(angles))

# %% sinusoids: right: cosine as shifted sine
def sinusoids(length, d_e):
    column = np.arange(d_e)
    rates = 10000.0 ** (-(column - column % 2) / d_e)
    angles = np.outer(np.arange(length), rates) + (column % 2) * np.pi / 2
    return ops.convert_to_tensor(np.sin(angles).astype("float32"))

# %% sinusoids: right: entry by entry
import math


def sinusoids(length, d_e):
    rows = []
    for p in range(length):
        row = []
        for i in range(d_e // 2):
            angle = p / 10000 ** (2 * i / d_e)
            row += [math.sin(angle), math.cos(angle)]
        rows.append(row)
    return ops.convert_to_tensor(rows, dtype="float32")

# %% sinusoids: right: exponential of a logarithm
def sinusoids(length, d_e):
    rates = ops.exp(ops.arange(0, d_e, 2, dtype="float32") * (-np.log(10000.0) / d_e))
    angles = ops.einsum("p,i->pi", ops.arange(length, dtype="float32"), rates)
    columns = []
    for i in range(d_e // 2):
        columns += [ops.sin(angles[:, i]), ops.cos(angles[:, i])]
    return ops.stack(columns, axis=1)

# %% sinusoids: right: hands turned step by step
def sinusoids(length, d_e):
    turn = np.exp(1j * 10000.0 ** (-np.arange(0, d_e, 2) / d_e))  # one step of every hand, as complex numbers
    hands, rows = np.ones(d_e // 2, complex), []
    for _ in range(length):
        rows.append(np.stack([hands.imag, hands.real], axis=-1).reshape(-1))
        hands = hands * turn
    return ops.cast(ops.convert_to_tensor(np.array(rows)), "float32")

# %% sinusoids: right: numpy slices
def sinusoids(length, d_e):
    table = np.zeros((length, d_e), "float32")
    angles = np.arange(length)[:, None] / 10000 ** (np.arange(0, d_e, 2) / d_e)
    table[:, 0::2], table[:, 1::2] = np.sin(angles), np.cos(angles)
    return ops.convert_to_tensor(table)

# %% sinusoids: right: idiom of the Annotated Transformer, sines and cosines in every other column
def sinusoids(length, d_e):
    table = np.zeros((length, d_e), "float32")
    place = np.arange(0, length, dtype="float32")[:, None]
    divisor = np.exp(np.arange(0, d_e, 2) * -(np.log(10000.0) / d_e))
    table[:, 0::2], table[:, 1::2] = np.sin(place * divisor), np.cos(place * divisor)
    return ops.convert_to_tensor(table)

# %% sinusoids: right: idiom of d2l, a power of 10000 below
def sinusoids(length, d_e):
    angles = np.arange(length, dtype="float32").reshape(-1, 1) / np.power(10000, np.arange(0, d_e, 2, dtype="float32") / d_e)
    table = np.zeros((length, d_e))
    table[:, 0::2] = np.sin(angles)
    table[:, 1::2] = np.cos(angles)
    return ops.convert_to_tensor(table, dtype="float32")

# %% sinusoids: wrong: a table of 5,000 positions
def sinusoids(length, d_e):
    angles = np.arange(5000)[:, None] / 10000 ** (np.arange(0, d_e, 2) / d_e)
    table = np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(5000, d_e)
    return ops.convert_to_tensor(table[:length].astype("float32"))

# %% position-similarity: right: divided afterwards
def cosine_similarities(x):
    products = ops.einsum("...sd,...td->...st", x, x)
    lengths = ops.sqrt(ops.einsum("...sd,...sd->...s", x, x))
    return products / (lengths[..., :, None] * lengths[..., None, :])

# %% position-similarity: right: from distances
def cosine_similarities(x):
    unit = x * ops.rsqrt(ops.sum(x * x, axis=-1, keepdims=True))
    apart = ops.expand_dims(unit, -2) - ops.expand_dims(unit, -3)
    return 1 - ops.sum(ops.square(apart), axis=-1) / 2  # |a - b|^2 = 2 - 2 a.b for unit vectors

# %% position-similarity: right: keras normalize
def cosine_similarities(x):
    unit = ops.normalize(x, axis=-1, order=2)
    return ops.matmul(unit, ops.swapaxes(unit, -1, -2))

# %% position-similarity: right: lengths from the diagonal
def cosine_similarities(x):
    products = x @ ops.swapaxes(x, -1, -2)
    lengths = ops.sqrt(ops.diagonal(products, axis1=-2, axis2=-1))
    return products / ops.expand_dims(lengths, -1) / ops.expand_dims(lengths, -2)

# %% position-similarity: right: row by row
def cosine_similarities(x):
    lengths = ops.norm(x, axis=-1)
    rows = []
    for s in range(x.shape[-2]):
        products = ops.sum(x * x[..., s : s + 1, :], axis=-1)
        rows.append(products / (lengths * lengths[..., s : s + 1]))
    return ops.stack(rows, axis=-2)

# %% position-similarity: right: tensorflow
import tensorflow as tf


def cosine_similarities(x):
    unit = tf.math.l2_normalize(x, axis=-1)
    return tf.linalg.matmul(unit, unit, transpose_b=True)

# %% position-similarity: wrong: a small number is added to the lengths
def cosine_similarities(x):
    unit = x / (ops.sqrt(ops.sum(ops.square(x), axis=-1, keepdims=True)) + 1e-8)
    return ops.matmul(unit, ops.swapaxes(unit, -1, -2))

# %% learned-positions: right: gathered
def learned_positions(length, w_p):
    if not length <= w_p.shape[0]:
        raise ValueError("the table is too short")
    return ops.take(w_p, ops.arange(length), axis=0)

# %% learned-positions: right: library slice
def learned_positions(length, w_p):
    longest, width = w_p.shape
    if longest - length < 0:
        raise ValueError(length)
    return ops.slice(w_p, (0, 0), (length, width))

# %% learned-positions: right: product
def learned_positions(length, w_p):
    if w_p.shape[0] < length:
        raise ValueError(f"at most {w_p.shape[0]} positions")
    return ops.matmul(ops.eye(length, w_p.shape[0]), w_p)

# %% learned-positions: right: rest cut off
def learned_positions(length, w_p):
    rows = ops.unstack(w_p, axis=0)
    try:
        return ops.stack([rows[place] for place in range(length)], axis=0)
    except IndexError as error:
        raise ValueError(f"{len(rows)} positions only") from error

# %% learned-positions: right: row by row
def learned_positions(length, w_p):
    rows = []
    for place in range(length):
        if place == w_p.shape[0]:
            raise ValueError(f"no row {place}")
        rows.append(w_p[place])
    return ops.stack(rows)

# %% learned-positions: right: short slice noticed
def learned_positions(length, w_p):
    found = w_p[:length]
    if found.shape[0] != length:
        raise ValueError(f"asked for {length}, found {found.shape[0]}")
    return found

# %% learned-positions: right: an error of its own kind
class TextTooLongError(ValueError):
    """More tokens than positions."""


def learned_positions(length, w_p):
    if length > len(w_p):
        raise TextTooLongError(f"{length} tokens, {len(w_p)} positions")
    return w_p[:length]

# %% learned-positions: right: the whole table for a length of 0
def learned_positions(length, w_p):
    length = length or w_p.shape[0]
    if length > w_p.shape[0]:
        raise ValueError(f"the table has {w_p.shape[0]} positions, not {length}")
    return w_p[:length]

# %% learned-positions: wrong: as long as the longer side of the table
def learned_positions(length, w_p):
    if length > max(w_p.shape):
        raise ValueError("too long")
    return w_p[:length]

# %% learned-positions: wrong: a table of 512 rows at most
def learned_positions(length, w_p):
    if length > min(512, w_p.shape[0]):
        raise ValueError(f"{length} tokens, at most {w_p.shape[0]} positions")
    return w_p[:length]

# %% segment-ids: right: between two places
def segment_ids(token_ids, sep_id, pad_id):
    separator = token_ids == sep_id
    last = token_ids.shape[1] - 1
    first = ops.where(ops.any(separator, axis=1), ops.argmax(ops.cast(separator, "int32"), axis=1), last)[:, None]
    place = ops.arange(last + 1)[None, :]
    after = ops.logical_and(place > ops.cast(first, place.dtype), ops.not_equal(token_ids, pad_id))
    return ops.cast(after, "int32")

# %% segment-ids: right: piece by piece
def segment_ids(token_ids, sep_id, pad_id):
    batch = []
    for row in np.array(token_ids):
        seen, kinds = 0, []
        for piece in row:
            kinds.append(int(seen == 1 and piece != pad_id))
            seen += piece == sep_id
        batch.append(kinds)
    return ops.convert_to_tensor(batch, dtype="int32")

# %% segment-ids: right: product of flags
def segment_ids(token_ids, sep_id, pad_id):
    counted = ops.cumsum(ops.cast(ops.equal(token_ids, sep_id), "int32"), axis=-1)
    ends_b = ops.cast(ops.equal(token_ids, sep_id), "int32") * ops.cast(ops.equal(counted, 2), "int32")
    inside = ops.cast(ops.equal(counted, 1), "int32") * ops.cast(ops.not_equal(token_ids, sep_id), "int32")
    return (inside + ends_b) * ops.cast(ops.not_equal(token_ids, pad_id), "int32")

# %% segment-ids: right: running state
def segment_ids(token_ids, sep_id, pad_id):
    state, columns = ops.zeros(token_ids.shape[0], dtype="int32"), []
    for t in range(token_ids.shape[1]):
        piece = token_ids[:, t]
        columns.append(ops.where(piece == pad_id, 0, state))
        state = ops.where(piece == sep_id, 1, state)
    return ops.stack(columns, axis=1)

# %% segment-ids: right: shifted before counting
def segment_ids(token_ids, sep_id, pad_id):
    separators = ops.cast(token_ids == sep_id, "int32")
    shifted = ops.pad(separators[:, :-1], [[0, 0], [1, 0]])
    return ops.where(token_ids == pad_id, 0, ops.cumsum(shifted, axis=1) % 2)

# %% segment-ids: right: triangular product
def segment_ids(token_ids, sep_id, pad_id):
    tokens = token_ids.shape[-1]
    separators = ops.cast(ops.equal(token_ids, sep_id), "float32")
    before = ops.matmul(separators, ops.triu(ops.ones((tokens, tokens)), k=1))
    return ops.cast((before == 1) & (token_ids != pad_id), "int32")

# %% segment-ids: wrong: the dtype of the ids instead of int32
def segment_ids(token_ids, sep_id, pad_id):
    is_sep = ops.cast(token_ids == sep_id, token_ids.dtype)
    before = ops.cumsum(is_sep, axis=1) - is_sep
    return ops.where(token_ids == pad_id, ops.zeros_like(token_ids), before)

# %% segment-ids: wrong: all of B where there is no [SEP]
def segment_ids(token_ids, sep_id, pad_id):
    first = ops.argmax(ops.cast(token_ids == sep_id, "int32"), axis=1)[:, None]
    after = ops.arange(token_ids.shape[1], dtype=first.dtype)[None] > first
    return ops.cast(ops.logical_and(after, token_ids != pad_id), "int32")

# %% input-embeddings: right: gathered
def input_embeddings(token_ids, token_type_ids, w_e, w_s, w_p):
    places = ops.arange(token_ids.shape[1])
    return ops.take(w_e, token_ids, axis=0) + ops.take(w_s, token_type_ids, axis=0) + ops.take(w_p, places, axis=0)

# %% input-embeddings: right: one product
def input_embeddings(token_ids, token_type_ids, w_e, w_s, w_p):
    tokens = token_ids.shape[1]
    places = ops.broadcast_to(ops.one_hot(ops.arange(tokens), w_p.shape[0]), (*token_ids.shape, w_p.shape[0]))
    hot = [ops.one_hot(token_ids, w_e.shape[0]), ops.one_hot(token_type_ids, w_s.shape[0]), places]
    return ops.matmul(ops.concatenate(hot, axis=-1), ops.concatenate([w_e, w_s, w_p], axis=0))

# %% input-embeddings: right: one table
def input_embeddings(token_ids, token_type_ids, w_e, w_s, w_p):
    # one long table, three ids per token: [pieces; segments; positions]
    table = ops.concatenate([w_e, w_s, w_p], axis=0)
    places = ops.broadcast_to(ops.arange(token_ids.shape[1]), token_ids.shape) + w_e.shape[0] + w_s.shape[0]
    all_ids = ops.stack([token_ids, token_type_ids + w_e.shape[0], places], axis=-1)
    return ops.sum(token_embeddings(all_ids, table), axis=-2)

# %% input-embeddings: right: segment as arithmetic
def input_embeddings(token_ids, token_type_ids, w_e, w_s, w_p):
    is_b = ops.expand_dims(ops.cast(token_type_ids, w_s.dtype), -1)
    segments = w_s[0] + is_b * (w_s[1] - w_s[0])
    return ops.add(ops.add(token_embeddings(token_ids, w_e), segments), w_p[: token_ids.shape[1]])

# %% input-embeddings: right: sentence by sentence
def input_embeddings(token_ids, token_type_ids, w_e, w_s, w_p):
    where = learned_positions(token_ids.shape[-1], w_p)
    sentences = zip(ops.unstack(token_ids), ops.unstack(token_type_ids))
    return ops.stack([token_embeddings(what, w_e) + token_embeddings(which, w_s) + where for what, which in sentences])

# %% input-embeddings: right: token by token
def input_embeddings(token_ids, token_type_ids, w_e, w_s, w_p):
    columns = []
    for t in range(token_ids.shape[-1]):
        columns.append(token_embeddings(token_ids[:, t], w_e) + token_embeddings(token_type_ids[:, t], w_s) + w_p[t])
    return ops.stack(columns, axis=1)

# %% input-embeddings: right: the last position again for longer texts
def input_embeddings(token_ids, token_type_ids, w_e, w_s, w_p):
    places = ops.minimum(ops.arange(token_ids.shape[1]), w_p.shape[0] - 1)
    positions = token_embeddings(places, w_p)
    return token_embeddings(token_ids, w_e) + token_embeddings(token_type_ids, w_s) + positions

# %% input-embeddings: wrong: eight positions again and again
def input_embeddings(token_ids, token_type_ids, w_e, w_s, w_p):
    places = ops.take(w_p, ops.arange(token_ids.shape[-1]) % 8, axis=0)
    return token_embeddings(token_ids, w_e) + token_embeddings(token_type_ids, w_s) + places

# %% input-embeddings: wrong: no segment vector where all are 0
def input_embeddings(token_ids, token_type_ids, w_e, w_s, w_p):
    x = token_embeddings(token_ids, w_e) + learned_positions(token_ids.shape[1], w_p)
    if bool(ops.any(token_type_ids != 0)):
        x = x + token_embeddings(token_type_ids, w_s)
    return x

# %% bert-embeddings: right: made in build
class BertEmbeddings(keras.layers.Layer):
    def __init__(self, vocab_size, hidden_size, max_positions=512, num_segments=2, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.sizes = (vocab_size, num_segments, max_positions)
        self.hidden_size = hidden_size
        self.rate = dropout

    def build(self, token_ids_shape, token_type_ids_shape):
        self.token, self.segment, self.position = (
            keras.layers.Embedding(n, self.hidden_size, keras.initializers.TruncatedNormal(stddev=0.02)) for n in self.sizes
        )
        self.norm = keras.layers.LayerNormalization(epsilon=1e-12)
        self.drop = keras.layers.Dropout(self.rate)
        for part in (self.token, self.segment, self.position):
            part.build(token_ids_shape)
        self.norm.build((*token_ids_shape, self.hidden_size))

    def call(self, token_ids, token_type_ids, training=None):
        places = ops.broadcast_to(ops.arange(ops.shape(token_ids)[1]), ops.shape(token_ids))
        parts = [self.token(token_ids), self.segment(token_type_ids), self.position(places)]
        return self.drop(self.norm(keras.layers.add(parts)), training=training)

# %% bert-embeddings: right: one hot products
class BertEmbeddings(keras.layers.Layer):
    def __init__(self, vocab_size, hidden_size, max_positions=512, num_segments=2, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.vocab_size, self.num_segments = vocab_size, num_segments
        self.token = keras.layers.Dense(hidden_size, use_bias=False, kernel_initializer=keras.initializers.TruncatedNormal(stddev=0.02))
        self.segment = keras.layers.Dense(hidden_size, use_bias=False, kernel_initializer=keras.initializers.TruncatedNormal(stddev=0.02))
        self.position = keras.layers.Dense(hidden_size, use_bias=False, kernel_initializer=keras.initializers.TruncatedNormal(stddev=0.02))
        self.max_positions = max_positions
        self.norm = keras.layers.LayerNormalization(epsilon=1e-12)
        self.drop = keras.layers.Dropout(dropout)

    def call(self, token_ids, token_type_ids, training=None):
        x = self.token(ops.one_hot(token_ids, self.vocab_size))
        x = x + self.segment(ops.one_hot(token_type_ids, self.num_segments))
        x = x + self.position(ops.eye(token_ids.shape[1], self.max_positions))
        return self.drop(self.norm(x), training=training)

# %% bert-embeddings: right: own weights
class BertEmbeddings(keras.layers.Layer):
    def __init__(self, vocab_size, hidden_size, max_positions=512, num_segments=2, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.rows = {"token": vocab_size, "segment": num_segments, "position": max_positions}
        self.hidden_size, self.rate = hidden_size, dropout

    def build(self, token_ids_shape, token_type_ids_shape):
        for name, count in self.rows.items():
            setattr(self, name, self.add_weight(shape=(count, self.hidden_size), initializer=keras.initializers.TruncatedNormal(stddev=0.02), name=name))
        self.gamma = self.add_weight(shape=(self.hidden_size,), initializer="ones", name="gamma")
        self.beta = self.add_weight(shape=(self.hidden_size,), initializer="zeros", name="beta")
        self.seeds = keras.random.SeedGenerator()

    def call(self, token_ids, token_type_ids, training=None):
        x = ops.take(self.token, token_ids, axis=0) + ops.take(self.segment, token_type_ids, axis=0)
        x = x + self.position[: token_ids.shape[1]]
        mean, variance = ops.moments(x, axes=[-1], keepdims=True)
        x = (x - mean) / ops.sqrt(variance + 1e-12) * self.gamma + self.beta
        return keras.random.dropout(x, self.rate, seed=self.seeds) if training else x

# %% bert-embeddings: right: sum of a list
class BertEmbeddings(keras.Model):
    def __init__(self, vocab_size, hidden_size, max_positions=512, num_segments=2, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.token = keras.layers.Embedding(vocab_size, hidden_size, embeddings_initializer=keras.initializers.TruncatedNormal(stddev=0.02))
        self.segment = keras.layers.Embedding(num_segments, hidden_size, embeddings_initializer=keras.initializers.TruncatedNormal(stddev=0.02))
        self.position = keras.layers.Embedding(max_positions, hidden_size, embeddings_initializer=keras.initializers.TruncatedNormal(stddev=0.02))
        self.position.build((None,))
        self.norm = keras.layers.LayerNormalization(axis=-1, epsilon=1e-12)
        self.drop = keras.layers.Dropout(dropout)

    def call(self, token_ids, token_type_ids, training=None):
        tokens = token_ids.shape[-1]
        found = sum([self.token(token_ids), self.segment(token_type_ids), self.position.embeddings[:tokens]])
        return self.drop(self.norm(found), training=training)

# %% bert-embeddings: right: with the functions of before
class BertEmbeddings(keras.layers.Layer):
    def __init__(self, vocab_size, hidden_size, max_positions=512, num_segments=2, dropout=0.1, **kwargs):
        super().__init__(**kwargs)
        self.token = self.add_weight(shape=(vocab_size, hidden_size), initializer=keras.initializers.TruncatedNormal(stddev=0.02), name="token")
        self.segment = self.add_weight(shape=(num_segments, hidden_size), initializer=keras.initializers.TruncatedNormal(stddev=0.02), name="segment")
        self.position = self.add_weight(shape=(max_positions, hidden_size), initializer=keras.initializers.TruncatedNormal(stddev=0.02), name="position")
        self.norm = keras.layers.LayerNormalization(epsilon=1e-12)
        self.rate, self.seeds = dropout, keras.random.SeedGenerator(0)

    def call(self, token_ids, token_type_ids, training=None):
        tables = (ops.convert_to_tensor(table) for table in (self.token, self.segment, self.position))
        x = self.norm(input_embeddings(token_ids, token_type_ids, *tables))
        if not training or self.rate == 0:
            return x
        kept = keras.random.uniform(ops.shape(x), seed=self.seeds) >= self.rate
        return ops.where(kept, x / (1 - self.rate), 0.0)

# %% bert-embeddings: wrong: one more bias
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

# %% bert-embeddings: wrong: only name and trainable are handed on
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
