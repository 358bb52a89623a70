# Other right answers to the exercises of notebook 03, each of another structure.
# A cell has the set-up and the answers before it in the notebook, and must pass its check whole.

# %% concat-heads: columns collected
def concat_heads(heads):
    columns = [head[..., j] for head in heads for j in range(head.shape[-1])]
    return ops.stack(columns, axis=-1)

# %% concat-heads: matrix by matrix
def concat_heads(heads):
    y = heads[0]
    for head in heads[1:]:
        y = ops.concatenate([y, head], axis=-1)
    return y

# %% concat-heads: padded and added
def concat_heads(heads):
    width = heads[0].shape[-1]
    total = 0
    for place, head in enumerate(heads):
        before, after = place * width, (len(heads) - 1 - place) * width
        total = total + ops.pad(head, [(0, 0)] * (len(head.shape) - 1) + [(before, after)])
    return total

# %% concat-heads: stack then reshape
def concat_heads(heads):
    stacked = ops.stack(heads, axis=-2)  # (..., tokens, heads, d_mid)
    return ops.reshape(stacked, (*heads[0].shape[:-1], len(heads) * heads[0].shape[-1]))

# %% concat-heads: tensorflow
import tensorflow as tf


def concat_heads(heads):
    return tf.concat(heads, -1)

# %% concat-heads: turned and piled
def concat_heads(heads):
    turned = [ops.swapaxes(head, -1, -2) for head in heads]
    return ops.swapaxes(ops.concatenate(turned, axis=-2), -1, -2)

# %% add-to-rows: column by column
def add_to_rows(x, b):
    return ops.stack([x[..., j] + b[j] for j in range(x.shape[-1])], axis=-1)

# %% add-to-rows: constant one column
def add_to_rows(x, b):
    extended = ops.concatenate([x, ops.ones_like(x[..., :1])], axis=-1)
    matrix = ops.concatenate([ops.eye(b.shape[0]), b[None, :]], axis=0)
    return ops.matmul(extended, matrix)

# %% add-to-rows: einsum of ones
def add_to_rows(x, b):
    return x + ops.einsum("...mn,n->...mn", ops.ones_like(x), b)

# %% add-to-rows: outer product with ones
def add_to_rows(x, b):
    ones = ops.ones((1, x.shape[-2]), dtype=x.dtype)
    repeated = ops.matmul(ops.reshape(b, (-1, 1)), ones)  # bᵀ 1, (n, m)
    return x + ops.transpose(repeated)

# %% add-to-rows: repeated to full shape
def add_to_rows(x, b):
    return ops.add(x, ops.broadcast_to(b, ops.shape(x)))

# %% add-to-rows: row by row
def add_to_rows(x, b):
    rows = [x[..., t, :] + b for t in range(x.shape[-2])]
    return ops.stack(rows, axis=-2)

# %% softmax-rows: denominator by matrix product
def softmax_rows(a):
    top = ops.exp(ops.subtract(a, ops.expand_dims(ops.amax(a, axis=-1), -1)))
    ones = ops.ones((a.shape[-1], 1), dtype=a.dtype)
    return top / ops.matmul(top, ones)

# %% softmax-rows: inverse sum einsum
def softmax_rows(a):
    powers = ops.exp(a - ops.max(a, axis=-1, keepdims=True))
    return ops.einsum("...mn,...m->...mn", powers, ops.reciprocal(ops.einsum("...mn->...m", powers)))

# %% softmax-rows: row by row
def softmax_rows(a):
    rows = []
    for row in ops.unstack(ops.reshape(a, (-1, a.shape[-1])), axis=0):
        powers = ops.exp(row - ops.max(row))
        rows.append(powers / ops.sum(powers))
    return ops.reshape(ops.stack(rows), ops.shape(a))

# %% softmax-rows: through logarithms of shifted scores
def softmax_rows(a):
    shifted = a - ops.max(a, axis=-1, keepdims=True)
    return ops.exp(shifted - ops.logsumexp(shifted, axis=-1, keepdims=True))

# %% softmax-rows: turned to columns
def softmax_rows(a):
    columns = ops.swapaxes(a, -1, -2)
    columns = columns - ops.max(columns, axis=-2, keepdims=True)
    powers = ops.exp(columns)
    return ops.swapaxes(powers / ops.sum(powers, axis=-2, keepdims=True), -1, -2)

# %% scores: broadcast and sum
def attention_scores(q, k):
    products = ops.expand_dims(q, -2) * ops.expand_dims(k, -3)  # (..., t, s, d)
    return ops.mean(products, axis=-1) * q.shape[-1] ** 0.5

# %% scores: einsum
def attention_scores(q, k):
    return ops.einsum("...td,...sd->...ts", q, k) / ops.sqrt(ops.cast(ops.shape(q)[-1], q.dtype))

# %% scores: explicit transpose
def attention_scores(q, k):
    axes = list(range(len(k.shape)))
    axes[-1], axes[-2] = axes[-2], axes[-1]
    return q @ ops.transpose(k, axes) / float(k.shape[-1]) ** 0.5

# %% scores: keys first
def attention_scores(q, k):
    turned = ops.matmul(k, ops.swapaxes(q, -1, -2))
    return ops.swapaxes(turned, -1, -2) * (1 / np.float32(np.sqrt(k.shape[-1])))

# %% scores: query by query
def attention_scores(q, k):
    rows = []
    for t in range(q.shape[-2]):
        query = q[..., t : t + 1, :]
        rows.append(ops.sum(query * k, axis=-1) / np.sqrt(q.shape[-1]).astype("float32"))
    return ops.stack(rows, axis=-2)

# %% scores: scale before
def attention_scores(q, k):
    quarter = float(q.shape[-1]) ** -0.25
    return ops.matmul(q * quarter, ops.swapaxes(k * quarter, -2, -1))

# %% scores: tensorflow
import tensorflow as tf


def attention_scores(q, k):
    return tf.linalg.matmul(q, k, transpose_b=True) / tf.sqrt(tf.cast(tf.shape(k)[-1], tf.float32))

# %% attention: divide at the end
def attention(x, w_q, b_q, w_k, b_k, w_v, b_v):
    scores = attention_scores(add_to_rows(x @ w_q, b_q), add_to_rows(x @ w_k, b_k))
    powers = ops.exp(scores - ops.max(scores, axis=-1, keepdims=True))
    return (powers @ add_to_rows(x @ w_v, b_v)) / ops.sum(powers, axis=-1, keepdims=True)

# %% attention: einsum
def attention(x, w_q, b_q, w_k, b_k, w_v, b_v):
    q = ops.einsum("...td,da->...ta", x, w_q) + b_q
    k = ops.einsum("...td,da->...ta", x, w_k) + b_k
    v = ops.einsum("...td,do->...to", x, w_v) + b_v
    weights = softmax_rows(ops.einsum("...ta,...sa->...ts", q, k) / q.shape[-1] ** 0.5)
    return ops.einsum("...ts,...so->...to", weights, v)

# %% attention: one expression with keras softmax
def attention(x, w_q, b_q, w_k, b_k, w_v, b_v):
    q, k, v = x @ w_q + b_q, x @ w_k + b_k, x @ w_v + b_v
    return keras.ops.softmax(q @ ops.swapaxes(k, -1, -2) / w_q.shape[-1] ** 0.5) @ v

# %% attention: one large product
def attention(x, w_q, b_q, w_k, b_k, w_v, b_v):
    together = ops.matmul(x, ops.concatenate([w_q, w_k, w_v], axis=1)) + ops.concatenate([b_q, b_k, b_v], axis=0)
    d = w_q.shape[1]
    q, k, v = together[..., :d], together[..., d : 2 * d], together[..., 2 * d :]
    return ops.matmul(softmax_rows(attention_scores(q, k)), v)

# %% attention: token by token
def attention(x, w_q, b_q, w_k, b_k, w_v, b_v):
    keys, values = add_to_rows(x @ w_k, b_k), add_to_rows(x @ w_v, b_v)
    rows = []
    for t in range(x.shape[-2]):
        query = x[..., t : t + 1, :] @ w_q + b_q
        rows.append(softmax_rows(attention_scores(query, keys)) @ values)
    return ops.concatenate(rows, axis=-2)

# %% attention: values projected last
def attention(x, w_q, b_q, w_k, b_k, w_v, b_v):
    weights = softmax_rows(attention_scores(x @ w_q + b_q, x @ w_k + b_k))
    return (weights @ x) @ w_v + b_v  # shares sum to 1, so the bias comes through unchanged

# %% padding-mask: cast
def padding_mask(is_real):
    return ops.cast(ops.expand_dims(is_real, -2), "bool")

# %% padding-mask: index with none
def padding_mask(is_real):
    return (is_real == 1)[:, None, :]

# %% padding-mask: not padding
def padding_mask(is_real):
    padding = ops.equal(is_real, ops.zeros_like(is_real))
    return ops.logical_not(padding[:, None])

# %% padding-mask: reshape
def padding_mask(is_real):
    batch, tokens = is_real.shape
    return ops.reshape(ops.greater(is_real, 0), (batch, 1, tokens))

# %% padding-mask: sentence by sentence
def padding_mask(is_real):
    return ops.stack([ops.expand_dims(ops.not_equal(row, 0), 0) for row in ops.unstack(is_real, axis=0)])

# %% causal-mask: cumulative sum
def causal_mask(tokens):
    return ops.cumsum(ops.eye(tokens), axis=0) > 0  # once the diagonal has passed, a column stays 1

# %% causal-mask: difference of places
def causal_mask(tokens):
    place = ops.arange(tokens)
    distance = place[:, None] - place[None, :]
    return ops.greater_equal(distance, 0)

# %% causal-mask: lower triangle
def causal_mask(tokens):
    return ops.tril(ops.ones((tokens, tokens), dtype="bool"))

# %% causal-mask: not upper triangle
def causal_mask(tokens):
    return ops.logical_not(ops.cast(ops.triu(ops.ones((tokens, tokens)), k=1), "bool"))

# %% causal-mask: numpy tri
def causal_mask(tokens):
    return ops.convert_to_tensor(np.tri(tokens, dtype=bool))

# %% causal-mask: row by row
def causal_mask(tokens):
    rows = [[j <= i for j in range(tokens)] for i in range(tokens)]
    return ops.convert_to_tensor(rows, dtype="bool")

# %% masked-attention: from the definition, evenly where nothing is seen
MASKED_SCORE = -1e9


def masked_attention(q, k, v, mask):
    scores = attention_scores(q, k)
    mask = ops.broadcast_to(mask, scores.shape)
    highest = ops.max(ops.where(mask, scores, MASKED_SCORE), axis=-1, keepdims=True)
    powers = ops.where(mask, ops.exp(ops.minimum(scores - highest, 0.0)), 0.0)
    powers = ops.where(ops.any(mask, axis=-1, keepdims=True), powers, 1.0)
    return powers @ v / ops.sum(powers, axis=-1, keepdims=True)

# %% masked-attention: mask of what is hidden
MASKED_SCORE = -1e9


def masked_attention(q, k, v, mask):
    hidden = ops.logical_not(mask)
    scores = ops.einsum("btd,bsd->bts", q, k) / float(q.shape[-1]) ** 0.5
    weights = softmax_rows(ops.where(hidden, ops.full_like(scores, MASKED_SCORE), scores))
    return ops.einsum("bts,bso->bto", weights, v)

# %% masked-attention: query by query
MASKED_SCORE = -1e9


def masked_attention(q, k, v, mask):
    mask = ops.broadcast_to(mask, (q.shape[0], q.shape[1], k.shape[1]))
    rows = []
    for t in range(q.shape[1]):
        scores = ops.sum(q[:, t, None, :] * k, axis=-1) / q.shape[-1] ** 0.5
        weights = softmax_rows(ops.where(mask[:, t], scores, MASKED_SCORE))
        rows.append(ops.sum(weights[:, :, None] * v, axis=1))
    return ops.stack(rows, axis=1)

# %% masked-attention: smallest float
MASKED_SCORE = np.finfo("float32").min


def masked_attention(q, k, v, mask):
    seen = ops.cast(mask, "float32")
    scores = attention_scores(q, k) * seen + MASKED_SCORE * (1 - seen)
    return ops.matmul(softmax_rows(scores), v)

# %% masked-attention: added number
def masked_attention(q, k, v, mask):
    scores = attention_scores(q, k)
    hidden = ops.cast(ops.logical_not(mask), scores.dtype)
    return softmax_rows(scores * (1 - hidden) - 1e9 * hidden) @ v

# %% mh-attention: comprehension
def mh_attention(x, heads, w_o, b_o):
    return concat_heads([attention(x, *head) for head in heads]) @ w_o + b_o

# %% mh-attention: grown matrix
def mh_attention(x, heads, w_o, b_o):
    y = attention(x, *heads[0])
    for parameters in heads[1:]:
        y = ops.concatenate((y, attention(x, *parameters)), axis=-1)
    return ops.add(ops.matmul(y, w_o), b_o)

# %% mh-attention: heads as an axis
def mh_attention(x, heads, w_o, b_o):
    w_q, b_q, w_k, b_k, w_v, b_v = (ops.stack(parameters) for parameters in zip(*heads))
    q, k, v = (ops.einsum("...td,hda->...hta", x, w) + b[:, None, :] for w, b in ((w_q, b_q), (w_k, b_k), (w_v, b_v)))
    found = softmax_rows(attention_scores(q, k)) @ v  # (..., heads, tokens, d_mid)
    w_o = ops.reshape(w_o, (len(heads), -1, w_o.shape[-1]))
    return ops.einsum("...hto,hod->...td", found, w_o) + b_o

# %% mh-attention: named parameters
def mh_attention(x, heads, w_o, b_o):
    found = []
    for w_q, b_q, w_k, b_k, w_v, b_v in heads:
        q, k, v = add_to_rows(x @ w_q, b_q), add_to_rows(x @ w_k, b_k), add_to_rows(x @ w_v, b_v)
        found.append(softmax_rows(attention_scores(q, k)) @ v)
    return add_to_rows(ops.concatenate(found, axis=-1) @ w_o, b_o)

# %% mh-attention: recursive
def mh_attention(x, heads, w_o, b_o):
    def side_by_side(rest):
        first = attention(x, *rest[0])
        return first if len(rest) == 1 else concat_heads([first, side_by_side(rest[1:])])

    return add_to_rows(ops.matmul(side_by_side(heads), w_o), b_o)

# %% mh-attention: sum of head contributions
def mh_attention(x, heads, w_o, b_o):
    pieces = ops.split(w_o, len(heads), axis=0)  # each head's own rows of W_o
    result = b_o
    for head, piece in zip(heads, pieces):
        result = result + attention(x, *head) @ piece
    return result

# %% multi-head-layer: a dense per head
class MultiHeadAttention(keras.layers.Layer):
    def __init__(self, num_heads, **kwargs):
        super().__init__(**kwargs)
        self.num_heads = num_heads

    def build(self, x_shape):
        size = x_shape[-1] // self.num_heads
        self.query = [keras.layers.Dense(size) for _ in range(self.num_heads)]
        self.key = [keras.layers.Dense(size) for _ in range(self.num_heads)]
        self.value = [keras.layers.Dense(size) for _ in range(self.num_heads)]
        self.out = keras.layers.Dense(x_shape[-1])

    def call(self, x, attention_mask=None):
        found = []
        for query, key, value in zip(self.query, self.key, self.value):
            scores = attention_scores(query(x), key(x))
            scores = scores if attention_mask is None else ops.where(attention_mask, scores, MASKED_SCORE)
            found.append(softmax_rows(scores) @ value(x))
        return self.out(ops.concatenate(found, axis=-1))

# %% multi-head-layer: dense in init
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
        batch, tokens, hidden = ops.shape(x)
        size = hidden // self.num_heads
        q, k, v = (
            ops.reshape(dense(x), (batch, tokens, self.num_heads, size)) for dense in (self.query, self.key, self.value)
        )
        scores = ops.einsum("btad,bsad->bats", q, k) / size**0.5
        if attention_mask is not None:
            seen = ops.cast(attention_mask, "float32")[:, None]
            scores = scores * seen - 1e9 * (1.0 - seen)
        found = ops.einsum("bats,bsad->btad", ops.softmax(scores), v)
        return self.out(ops.reshape(found, (batch, tokens, hidden)))

# %% multi-head-layer: einsum dense
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

# %% multi-head-layer: heads in the batch
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

# %% multi-head-layer: loop over slices
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

# %% multi-head-layer: own weights
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
    def __init__(self, num_heads, **kwargs):
        super().__init__(**kwargs)
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

# %% cross-attention: answerer by answerer
def cross_attention(z, h, w_q, b_q, w_k, b_k, w_v, b_v):
    q = add_to_rows(z @ w_q, b_q)
    scores, values = [], []
    for s in range(h.shape[-2]):
        answerer = h[..., s, :][..., None, :]
        scores.append(ops.sum(q * (answerer @ w_k + b_k), axis=-1) / w_k.shape[-1] ** 0.5)
        values.append(answerer @ w_v + b_v)
    weights = softmax_rows(ops.stack(scores, axis=-1))
    return sum(weights[..., s : s + 1] * value for s, value in enumerate(values))

# %% cross-attention: asker by asker
def cross_attention(z, h, w_q, b_q, w_k, b_k, w_v, b_v):
    keys, values = add_to_rows(h @ w_k, b_k), add_to_rows(h @ w_v, b_v)
    rows = []
    for t in range(z.shape[-2]):
        query = z[..., t : t + 1, :] @ w_q + b_q
        rows.append(softmax_rows(attention_scores(query, keys)) @ values)
    return ops.concatenate(rows, axis=-2)

# %% cross-attention: einsum with keras softmax
def cross_attention(z, h, w_q, b_q, w_k, b_k, w_v, b_v):
    q = ops.einsum("...td,da->...ta", z, w_q) + b_q
    k = ops.einsum("...sd,da->...sa", h, w_k) + b_k
    v = ops.einsum("...sd,do->...so", h, w_v) + b_v
    weights = ops.softmax(ops.einsum("...ta,...sa->...ts", q, k) * w_q.shape[1] ** -0.5, axis=-1)
    return ops.einsum("...ts,...so->...to", weights, v)

# %% cross-attention: masked self attention of both
def cross_attention(z, h, w_q, b_q, w_k, b_k, w_v, b_v):
    # one packed sequence [z; h]; only the tokens of h may be seen, and only the rows of z are kept
    both = ops.concatenate([z, h], axis=-2)
    asking, answering = z.shape[-2], h.shape[-2]
    seen = ops.arange(asking + answering) >= asking
    q, k, v = add_to_rows(both @ w_q, b_q), add_to_rows(both @ w_k, b_k), add_to_rows(both @ w_v, b_v)
    return masked_attention(q, k, v, seen)[..., :asking, :]

# %% cross-attention: one expression
def cross_attention(z, h, w_q, b_q, w_k, b_k, w_v, b_v):
    return softmax_rows(attention_scores(z @ w_q + b_q, h @ w_k + b_k)) @ (h @ w_v + b_v)

# %% cross-attention: values projected last
def cross_attention(z, h, w_q, b_q, w_k, b_k, w_v, b_v):
    weights = softmax_rows(attention_scores(z @ w_q + b_q, h @ w_k + b_k))
    return (weights @ h) @ w_v + b_v
