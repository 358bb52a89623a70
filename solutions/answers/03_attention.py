# Other answers to the exercises of notebook 03: right ones, each of another structure, and wrong ones that the
# checks must find; known mistakes with a name are in the exercises. A cell has the set-up and the answers before it in
# the notebook. A right one must pass whole; a wrong one must never earn all points, whatever the inputs.

# %% concat-heads: right: columns collected
def concat_heads(heads):
    columns = [head[..., j] for head in heads for j in range(head.shape[-1])]
    return ops.stack(columns, axis=-1)

# %% concat-heads: right: matrix by matrix
def concat_heads(heads):
    y = heads[0]
    for head in heads[1:]:
        y = ops.concatenate([y, head], axis=-1)
    return y

# %% concat-heads: right: padded and added
def concat_heads(heads):
    width = heads[0].shape[-1]
    total = 0
    for place, head in enumerate(heads):
        before, after = place * width, (len(heads) - 1 - place) * width
        total = total + ops.pad(head, [(0, 0)] * (len(head.shape) - 1) + [(before, after)])
    return total

# %% concat-heads: right: stack then reshape
def concat_heads(heads):
    stacked = ops.stack(heads, axis=-2)  # (..., tokens, heads, d_mid)
    return ops.reshape(stacked, (*heads[0].shape[:-1], len(heads) * heads[0].shape[-1]))

# %% concat-heads: right: tensorflow
import tensorflow as tf


def concat_heads(heads):
    return tf.concat(heads, -1)

# %% concat-heads: right: turned and piled
def concat_heads(heads):
    turned = [ops.swapaxes(head, -1, -2) for head in heads]
    return ops.swapaxes(ops.concatenate(turned, axis=-2), -1, -2)

# %% concat-heads: wrong: equal heads once
def concat_heads(heads):
    different = []
    for head in heads:
        if not any(bool(ops.all(head == other)) for other in different):
            different.append(head)
    return ops.concatenate(different, axis=-1)

# %% concat-heads: wrong: sixteen heads at most
def concat_heads(heads):
    return ops.concatenate(heads[:16], axis=-1)

# %% add-to-rows: right: column by column
def add_to_rows(x, b):
    return ops.stack([x[..., j] + b[j] for j in range(x.shape[-1])], axis=-1)

# %% add-to-rows: right: constant one column
def add_to_rows(x, b):
    extended = ops.concatenate([x, ops.ones_like(x[..., :1])], axis=-1)
    matrix = ops.concatenate([ops.eye(b.shape[0]), b[None, :]], axis=0)
    return ops.matmul(extended, matrix)

# %% add-to-rows: right: einsum of ones
def add_to_rows(x, b):
    return x + ops.einsum("...mn,n->...mn", ops.ones_like(x), b)

# %% add-to-rows: right: outer product with ones
def add_to_rows(x, b):
    ones = ops.ones((1, x.shape[-2]), dtype=x.dtype)
    repeated = ops.matmul(ops.reshape(b, (-1, 1)), ones)  # bᵀ 1, (n, m)
    return x + ops.transpose(repeated)

# %% add-to-rows: right: repeated to full shape
def add_to_rows(x, b):
    return ops.add(x, ops.broadcast_to(b, ops.shape(x)))

# %% add-to-rows: right: row by row
def add_to_rows(x, b):
    rows = [x[..., t, :] + b for t in range(x.shape[-2])]
    return ops.stack(rows, axis=-2)

# %% add-to-rows: wrong: fifty rows at most
def add_to_rows(x, b):
    return ops.concatenate([x[..., :50, :] + b, x[..., 50:, :]], axis=-2)

# %% add-to-rows: wrong: rows of zeros left alone
def add_to_rows(x, b):
    return ops.where(ops.all(x == 0, axis=-1, keepdims=True), x, x + b)

# %% softmax-rows: right: denominator by matrix product
def softmax_rows(a):
    top = ops.exp(ops.subtract(a, ops.expand_dims(ops.amax(a, axis=-1), -1)))
    ones = ops.ones((a.shape[-1], 1), dtype=a.dtype)
    return top / ops.matmul(top, ones)

# %% softmax-rows: right: inverse sum einsum
def softmax_rows(a):
    powers = ops.exp(a - ops.max(a, axis=-1, keepdims=True))
    return ops.einsum("...mn,...m->...mn", powers, ops.reciprocal(ops.einsum("...mn->...m", powers)))

# %% softmax-rows: right: row by row
def softmax_rows(a):
    rows = []
    for row in ops.unstack(ops.reshape(a, (-1, a.shape[-1])), axis=0):
        powers = ops.exp(row - ops.max(row))
        rows.append(powers / ops.sum(powers))
    return ops.reshape(ops.stack(rows), ops.shape(a))

# %% softmax-rows: right: through logarithms of shifted scores
def softmax_rows(a):
    shifted = a - ops.max(a, axis=-1, keepdims=True)
    return ops.exp(shifted - ops.logsumexp(shifted, axis=-1, keepdims=True))

# %% softmax-rows: right: turned to columns
def softmax_rows(a):
    columns = ops.swapaxes(a, -1, -2)
    columns = columns - ops.max(columns, axis=-2, keepdims=True)
    powers = ops.exp(columns)
    return ops.swapaxes(powers / ops.sum(powers, axis=-2, keepdims=True), -1, -2)

# %% softmax-rows: right: idiom of SciPy, the logarithm of the sum subtracted
def softmax_rows(a):
    return ops.exp(a - ops.logsumexp(a, axis=-1, keepdims=True))

# %% softmax-rows: right: idiom of the lecture notes, the largest score without its gradient
def softmax_rows(a):
    shifted = a - ops.stop_gradient(ops.max(a, axis=-1, keepdims=True))
    powers = ops.exp(shifted)
    return powers / ops.sum(powers, axis=-1, keepdims=True)

# %% softmax-rows: wrong: shifted by the largest score of each matrix but not of each row
def softmax_rows(a):
    axes = -1 if len(a.shape) == 2 else (-2, -1)
    powers = ops.exp(a - ops.max(a, axis=axes, keepdims=True))
    return powers / ops.sum(powers, axis=-1, keepdims=True)

# %% softmax-rows: wrong: no gradient for large scores
def softmax_rows(a: Tensor) -> Tensor:
    # 1 / sum_k exp(a_k - a_j): only differences occur, so the size of the scores does not matter
    differences = ops.expand_dims(a, -2) - ops.expand_dims(a, -1)  # [..., j, k] = a_k - a_j
    return 1.0 / ops.sum(ops.exp(differences), axis=-1)

# %% scores: right: broadcast and sum
def attention_scores(q, k):
    products = ops.expand_dims(q, -2) * ops.expand_dims(k, -3)  # (..., t, s, d)
    return ops.mean(products, axis=-1) * q.shape[-1] ** 0.5

# %% scores: right: einsum
def attention_scores(q, k):
    return ops.einsum("...td,...sd->...ts", q, k) / ops.sqrt(ops.cast(ops.shape(q)[-1], q.dtype))

# %% scores: right: explicit transpose
def attention_scores(q, k):
    axes = list(range(len(k.shape)))
    axes[-1], axes[-2] = axes[-2], axes[-1]
    return q @ ops.transpose(k, axes) / float(k.shape[-1]) ** 0.5

# %% scores: right: keys first
def attention_scores(q, k):
    turned = ops.matmul(k, ops.swapaxes(q, -1, -2))
    return ops.swapaxes(turned, -1, -2) * (1 / np.float32(np.sqrt(k.shape[-1])))

# %% scores: right: query by query
def attention_scores(q, k):
    rows = []
    for t in range(q.shape[-2]):
        query = q[..., t : t + 1, :]
        rows.append(ops.sum(query * k, axis=-1) / np.sqrt(q.shape[-1]).astype("float32"))
    return ops.stack(rows, axis=-2)

# %% scores: right: scale before
def attention_scores(q, k):
    quarter = float(q.shape[-1]) ** -0.25
    return ops.matmul(q * quarter, ops.swapaxes(k * quarter, -2, -1))

# %% scores: right: tensorflow
import tensorflow as tf


def attention_scores(q, k):
    return tf.linalg.matmul(q, k, transpose_b=True) / tf.sqrt(tf.cast(tf.shape(k)[-1], tf.float32))

# %% scores: right: idiom of google-research's BERT, multiplied by the inverse root
import math


def attention_scores(q, k):
    products = ops.einsum("...fd,...td->...ft", q, k)
    return ops.multiply(products, 1.0 / math.sqrt(float(q.shape[-1])))

# %% scores: right: idiom of nanoGPT, the root divides in front
import math


def attention_scores(q, k):
    return (q @ ops.swapaxes(k, -2, -1)) * (1.0 / math.sqrt(k.shape[-1]))

# %% scores: wrong: axes by number
def attention_scores(q, k):
    turned = ops.transpose(k) if len(k.shape) == 2 else ops.swapaxes(k, 1, 2)
    return q @ turned / q.shape[-1] ** 0.5

# %% scores: wrong: no gradient
def attention_scores(q, k):
    return ops.convert_to_tensor(np.asarray(q) @ np.swapaxes(np.asarray(k), -1, -2) / np.float32(q.shape[-1] ** 0.5))

# %% scores: wrong: limited to 50
def attention_scores(q, k):
    return ops.clip(ops.matmul(q, ops.swapaxes(k, -1, -2)) / q.shape[-1] ** 0.5, -50.0, 50.0)

# %% attention: right: divide at the end
def attention(x, w_q, b_q, w_k, b_k, w_v, b_v):
    scores = attention_scores(add_to_rows(x @ w_q, b_q), add_to_rows(x @ w_k, b_k))
    powers = ops.exp(scores - ops.max(scores, axis=-1, keepdims=True))
    return (powers @ add_to_rows(x @ w_v, b_v)) / ops.sum(powers, axis=-1, keepdims=True)

# %% attention: right: einsum
def attention(x, w_q, b_q, w_k, b_k, w_v, b_v):
    q = ops.einsum("...td,da->...ta", x, w_q) + b_q
    k = ops.einsum("...td,da->...ta", x, w_k) + b_k
    v = ops.einsum("...td,do->...to", x, w_v) + b_v
    weights = softmax_rows(ops.einsum("...ta,...sa->...ts", q, k) / q.shape[-1] ** 0.5)
    return ops.einsum("...ts,...so->...to", weights, v)

# %% attention: right: one expression with keras softmax
def attention(x, w_q, b_q, w_k, b_k, w_v, b_v):
    q, k, v = x @ w_q + b_q, x @ w_k + b_k, x @ w_v + b_v
    return keras.ops.softmax(q @ ops.swapaxes(k, -1, -2) / w_q.shape[-1] ** 0.5) @ v

# %% attention: right: one large product
def attention(x, w_q, b_q, w_k, b_k, w_v, b_v):
    together = ops.matmul(x, ops.concatenate([w_q, w_k, w_v], axis=1)) + ops.concatenate([b_q, b_k, b_v], axis=0)
    d = w_q.shape[1]
    q, k, v = together[..., :d], together[..., d : 2 * d], together[..., 2 * d :]
    return ops.matmul(softmax_rows(attention_scores(q, k)), v)

# %% attention: right: token by token
def attention(x, w_q, b_q, w_k, b_k, w_v, b_v):
    keys, values = add_to_rows(x @ w_k, b_k), add_to_rows(x @ w_v, b_v)
    rows = []
    for t in range(x.shape[-2]):
        query = x[..., t : t + 1, :] @ w_q + b_q
        rows.append(softmax_rows(attention_scores(query, keys)) @ values)
    return ops.concatenate(rows, axis=-2)

# %% attention: right: values projected last
def attention(x, w_q, b_q, w_k, b_k, w_v, b_v):
    weights = softmax_rows(attention_scores(x @ w_q + b_q, x @ w_k + b_k))
    return (weights @ x) @ w_v + b_v  # shares sum to 1, so the bias comes through unchanged

# %% attention: wrong: own softmax without a shift
def attention(x, w_q, b_q, w_k, b_k, w_v, b_v):
    powers = ops.exp(attention_scores(x @ w_q + b_q, x @ w_k + b_k))
    return powers / ops.sum(powers, axis=-1, keepdims=True) @ (x @ w_v + b_v)

# %% attention: wrong: 512 keys at most
def attention(x, w_q, b_q, w_k, b_k, w_v, b_v):
    q = x @ w_q + b_q
    k = (x @ w_k + b_k)[..., :512, :]
    v = (x @ w_v + b_v)[..., :512, :]
    return softmax_rows(attention_scores(q, k)) @ v

# %% padding-mask: right: cast
def padding_mask(is_real):
    return ops.cast(ops.expand_dims(is_real, -2), "bool")

# %% padding-mask: right: index with none
def padding_mask(is_real):
    return (is_real == 1)[:, None, :]

# %% padding-mask: right: not padding
def padding_mask(is_real):
    padding = ops.equal(is_real, ops.zeros_like(is_real))
    return ops.logical_not(padding[:, None])

# %% padding-mask: right: reshape
def padding_mask(is_real):
    batch, tokens = is_real.shape
    return ops.reshape(ops.greater(is_real, 0), (batch, 1, tokens))

# %% padding-mask: right: sentence by sentence
def padding_mask(is_real):
    return ops.stack([ops.expand_dims(ops.not_equal(row, 0), 0) for row in ops.unstack(is_real, axis=0)])

# %% padding-mask: right: idiom of the Annotated Transformer, compared and one axis before the last
def padding_mask(is_real):
    return ops.expand_dims(is_real != 0, -2)

# %% padding-mask: wrong: from lengths
def padding_mask(is_real):
    lengths = ops.sum(is_real, axis=1)
    return ops.arange(is_real.shape[1])[None, None, :] < lengths[:, None, None]

# %% causal-mask: right: cumulative sum
def causal_mask(tokens):
    return ops.cumsum(ops.eye(tokens), axis=0) > 0  # once the diagonal has passed, a column stays 1

# %% causal-mask: right: difference of places
def causal_mask(tokens):
    place = ops.arange(tokens)
    distance = place[:, None] - place[None, :]
    return ops.greater_equal(distance, 0)

# %% causal-mask: right: lower triangle
def causal_mask(tokens):
    return ops.tril(ops.ones((tokens, tokens), dtype="bool"))

# %% causal-mask: right: not upper triangle
def causal_mask(tokens):
    return ops.logical_not(ops.cast(ops.triu(ops.ones((tokens, tokens)), k=1), "bool"))

# %% causal-mask: right: numpy tri
def causal_mask(tokens):
    return ops.convert_to_tensor(np.tri(tokens, dtype=bool))

# %% causal-mask: right: row by row
def causal_mask(tokens):
    rows = [[j <= i for j in range(tokens)] for i in range(tokens)]
    return ops.convert_to_tensor(rows, dtype="bool")

# %% causal-mask: right: idiom of the Annotated Transformer, the upper triangle compared with 0
def causal_mask(tokens):
    later = ops.triu(ops.ones((tokens, tokens)), k=1)
    return later == 0

# %% causal-mask: wrong: a part of a table of 512 tokens
def causal_mask(tokens):
    table = ops.convert_to_tensor(np.tril(np.ones((512, 512), bool)))
    return table[:tokens, :tokens]

# %% masked-attention: right: from the definition, evenly where nothing is seen
MASKED_SCORE = -1e9


def masked_attention(q, k, v, mask):
    scores = attention_scores(q, k)
    mask = ops.broadcast_to(mask, scores.shape)
    highest = ops.max(ops.where(mask, scores, MASKED_SCORE), axis=-1, keepdims=True)
    powers = ops.where(mask, ops.exp(ops.minimum(scores - highest, 0.0)), 0.0)
    powers = ops.where(ops.any(mask, axis=-1, keepdims=True), powers, 1.0)
    return powers @ v / ops.sum(powers, axis=-1, keepdims=True)

# %% masked-attention: right: mask of what is hidden
MASKED_SCORE = -1e9


def masked_attention(q, k, v, mask):
    hidden = ops.logical_not(mask)
    scores = ops.einsum("btd,bsd->bts", q, k) / float(q.shape[-1]) ** 0.5
    weights = softmax_rows(ops.where(hidden, ops.full_like(scores, MASKED_SCORE), scores))
    return ops.einsum("bts,bso->bto", weights, v)

# %% masked-attention: right: query by query
MASKED_SCORE = -1e9


def masked_attention(q, k, v, mask):
    mask = ops.broadcast_to(mask, (q.shape[0], q.shape[1], k.shape[1]))
    rows = []
    for t in range(q.shape[1]):
        scores = ops.sum(q[:, t, None, :] * k, axis=-1) / q.shape[-1] ** 0.5
        weights = softmax_rows(ops.where(mask[:, t], scores, MASKED_SCORE))
        rows.append(ops.sum(weights[:, :, None] * v, axis=1))
    return ops.stack(rows, axis=1)

# %% masked-attention: right: smallest float
MASKED_SCORE = np.finfo("float32").min


def masked_attention(q, k, v, mask):
    seen = ops.cast(mask, "float32")
    scores = attention_scores(q, k) * seen + MASKED_SCORE * (1 - seen)
    return ops.matmul(softmax_rows(scores), v)

# %% masked-attention: right: added number
def masked_attention(q, k, v, mask):
    scores = attention_scores(q, k)
    hidden = ops.cast(ops.logical_not(mask), scores.dtype)
    return softmax_rows(scores * (1 - hidden) - 1e9 * hidden) @ v

# %% masked-attention: right: idiom of google-research's BERT, minus ten thousand
def masked_attention(q, k, v, mask):
    return softmax_rows(ops.where(mask, attention_scores(q, k), -1e4)) @ v

# %% masked-attention: right: minus a million
def masked_attention(q, k, v, mask):
    return softmax_rows(ops.where(mask, attention_scores(q, k), -1e6)) @ v

# %% masked-attention: right: idiom of google-research's BERT, a number added to the scores
def masked_attention(q, k, v, mask):
    adder = (1.0 - ops.cast(mask, "float32")) * -1e9
    weights = ops.softmax(attention_scores(q, k) + adder, axis=-1)
    return ops.matmul(weights, v)

# %% masked-attention: right: idiom of transformers, the smallest float added
def masked_attention(q, k, v, mask):
    extended = (1.0 - ops.cast(mask, "float32")) * float(np.finfo("float32").min)
    return ops.softmax(attention_scores(q, k) + extended, axis=-1) @ v

# %% masked-attention: wrong: weights hidden and divided again
def masked_attention(q, k, v, mask):
    weights = ops.where(mask, softmax_rows(attention_scores(q, k)), 0.0)
    total = ops.sum(weights, axis=-1, keepdims=True)
    return ops.where(total > 0, weights / ops.where(total > 0, total, 1.0), 1.0 / k.shape[-2]) @ v

# %% masked-attention: wrong: a mask with two axes taken for (batch, keys)
def masked_attention(q, k, v, mask):
    if len(mask.shape) == 2 and mask.shape[0] == q.shape[0]:
        mask = mask[:, None, :]
    return softmax_rows(ops.where(mask, attention_scores(q, k), -1e9)) @ v

# %% masked-attention: wrong: scores of zero are hidden
MASKED_SCORE = -1e9


def masked_attention(q, k, v, mask):
    scores = attention_scores(q, k) * ops.cast(mask, "float32")
    return softmax_rows(ops.where(scores == 0, MASKED_SCORE, scores)) @ v

# %% mh-attention: right: comprehension
def mh_attention(x, heads, w_o, b_o):
    return concat_heads([attention(x, *head) for head in heads]) @ w_o + b_o

# %% mh-attention: right: grown matrix
def mh_attention(x, heads, w_o, b_o):
    y = attention(x, *heads[0])
    for parameters in heads[1:]:
        y = ops.concatenate((y, attention(x, *parameters)), axis=-1)
    return ops.add(ops.matmul(y, w_o), b_o)

# %% mh-attention: right: heads as an axis
def mh_attention(x, heads, w_o, b_o):
    w_q, b_q, w_k, b_k, w_v, b_v = (ops.stack(parameters) for parameters in zip(*heads))
    q, k, v = (ops.einsum("...td,hda->...hta", x, w) + b[:, None, :] for w, b in ((w_q, b_q), (w_k, b_k), (w_v, b_v)))
    found = softmax_rows(attention_scores(q, k)) @ v  # (..., heads, tokens, d_mid)
    w_o = ops.reshape(w_o, (len(heads), -1, w_o.shape[-1]))
    return ops.einsum("...hto,hod->...td", found, w_o) + b_o

# %% mh-attention: right: named parameters
def mh_attention(x, heads, w_o, b_o):
    found = []
    for w_q, b_q, w_k, b_k, w_v, b_v in heads:
        q, k, v = add_to_rows(x @ w_q, b_q), add_to_rows(x @ w_k, b_k), add_to_rows(x @ w_v, b_v)
        found.append(softmax_rows(attention_scores(q, k)) @ v)
    return add_to_rows(ops.concatenate(found, axis=-1) @ w_o, b_o)

# %% mh-attention: right: recursive
def mh_attention(x, heads, w_o, b_o):
    def side_by_side(rest):
        first = attention(x, *rest[0])
        return first if len(rest) == 1 else concat_heads([first, side_by_side(rest[1:])])

    return add_to_rows(ops.matmul(side_by_side(heads), w_o), b_o)

# %% mh-attention: right: sum of head contributions
def mh_attention(x, heads, w_o, b_o):
    pieces = ops.split(w_o, len(heads), axis=0)  # each head's own rows of W_o
    result = b_o
    for head, piece in zip(heads, pieces):
        result = result + attention(x, *head) @ piece
    return result

# %% mh-attention: wrong: eight heads at most
def mh_attention(x, heads, w_o, b_o):
    found = concat_heads([attention(x, *parameters) for parameters in heads[:8]])
    return found @ w_o[: found.shape[-1]] + b_o

# %% multi-head-layer: right: a dense per head
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

# %% multi-head-layer: right: dense in init
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

# %% multi-head-layer: right: einsum dense
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

# %% multi-head-layer: right: heads in the batch
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

# %% multi-head-layer: right: loop over slices
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

# %% multi-head-layer: right: own weights
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

# %% multi-head-layer: right: a mask of minus a million
class MultiHeadAttention(keras.layers.Layer):
    def __init__(self, num_heads, **kwargs):
        super().__init__(**kwargs)
        self.num_heads = num_heads

    def build(self, x_shape):
        for name in ("query", "key", "value", "out"):
            setattr(self, name, keras.layers.Dense(x_shape[-1]))
            getattr(self, name).build(x_shape)

    def call(self, x, attention_mask=None):
        q, k, v = (ops.split(part(x), self.num_heads, axis=-1) for part in (self.query, self.key, self.value))
        found = []
        for q_h, k_h, v_h in zip(q, k, v):
            scores = attention_scores(q_h, k_h)
            if attention_mask is not None:
                scores = ops.where(attention_mask, scores, -1e6)
            found.append(softmax_rows(scores) @ v_h)
        return self.out(concat_heads(found))

# %% multi-head-layer: right: idiom of google-research's BERT, a number added to the scores
class MultiHeadAttention(keras.layers.Layer):
    def __init__(self, num_heads, **kwargs):
        super().__init__(**kwargs)
        self.num_heads = num_heads

    def build(self, shape):
        self.query, self.key, self.value, self.out = (keras.layers.Dense(shape[-1]) for _ in range(4))
        for part in (self.query, self.key, self.value, self.out):
            part.build(shape)

    def transpose_for_scores(self, x):
        batch, tokens, width = ops.shape(x)
        return ops.transpose(ops.reshape(x, (batch, tokens, self.num_heads, width // self.num_heads)), [0, 2, 1, 3])

    def call(self, x, attention_mask=None):
        q, k, v = (self.transpose_for_scores(part(x)) for part in (self.query, self.key, self.value))
        scores = ops.multiply(ops.matmul(q, ops.swapaxes(k, -1, -2)), 1.0 / float(q.shape[-1]) ** 0.5)
        if attention_mask is not None:
            scores = scores + (1.0 - ops.cast(ops.expand_dims(attention_mask, [1]), "float32")) * -1e9
        context = ops.transpose(ops.matmul(ops.softmax(scores), v), [0, 2, 1, 3])
        return self.out(ops.reshape(context, ops.shape(x)))

# %% multi-head-layer: wrong: as many tokens as in the first call
class MultiHeadAttention(keras.layers.Layer):
    def __init__(self, num_heads, **kwargs):
        super().__init__(**kwargs)
        self.num_heads = num_heads

    def build(self, x_shape):
        self.sizes = (-1, x_shape[1], self.num_heads, x_shape[-1] // self.num_heads)
        for name in ("query", "key", "value", "out"):
            setattr(self, name, keras.layers.Dense(x_shape[-1]))
            getattr(self, name).build(x_shape)

    def call(self, x, attention_mask=None):
        split = [ops.swapaxes(ops.reshape(part(x), self.sizes), 1, 2) for part in (self.query, self.key, self.value)]
        scores = attention_scores(split[0], split[1])
        if attention_mask is not None:
            scores = ops.where(attention_mask[:, None], scores, MASKED_SCORE)
        found = ops.swapaxes(softmax_rows(scores) @ split[2], 1, 2)
        return self.out(ops.reshape(found, (-1, self.sizes[1], x.shape[-1])))

# %% multi-head-layer: wrong: the score made smaller by a hundred
class MultiHeadAttention(keras.layers.Layer):
    def __init__(self, num_heads, **kwargs):
        super().__init__(**kwargs)
        self.num_heads = num_heads

    def build(self, x_shape):
        for name in ("query", "key", "value", "out"):
            setattr(self, name, keras.layers.Dense(x_shape[-1]))
            getattr(self, name).build(x_shape)

    def call(self, x, attention_mask=None):
        q, k, v = (ops.split(part(x), self.num_heads, axis=-1) for part in (self.query, self.key, self.value))
        found = []
        for q_h, k_h, v_h in zip(q, k, v):
            scores = attention_scores(q_h, k_h)
            if attention_mask is not None:
                seen = ops.any(attention_mask, axis=-1, keepdims=True)
                scores = ops.where(seen, ops.where(attention_mask, scores, scores - 100), 0.0)
            found.append(softmax_rows(scores) @ v_h)
        return self.out(concat_heads(found))

# %% multi-head-layer: wrong: a bias of its own for the scores
class MultiHeadAttention(keras.layers.Layer):
    def __init__(self, num_heads, **kwargs):
        super().__init__(**kwargs)
        self.num_heads = num_heads

    def build(self, x_shape):
        for name in ("query", "key", "value", "out"):
            setattr(self, name, keras.layers.Dense(x_shape[-1]))
            getattr(self, name).build(x_shape)
        self.bias = self.add_weight(shape=(self.num_heads,), initializer="zeros")

    def call(self, x, attention_mask=None):
        q, k, v = (ops.split(part(x), self.num_heads, axis=-1) for part in (self.query, self.key, self.value))
        found = []
        for h in range(self.num_heads):
            scores = attention_scores(q[h], k[h]) + self.bias[h]
            if attention_mask is not None:
                scores = ops.where(attention_mask, scores, MASKED_SCORE)
            found.append(softmax_rows(scores) @ v[h])
        return self.out(concat_heads(found))

# %% multi-head-layer: wrong: outputs are clipped
class MultiHeadAttention(keras.layers.Layer):
    def __init__(self, num_heads, **kwargs):
        super().__init__(**kwargs)
        self.num_heads = num_heads

    def build(self, x_shape):
        for name in ("query", "key", "value", "out"):
            setattr(self, name, keras.layers.Dense(x_shape[-1]))
            getattr(self, name).build(x_shape)

    def call(self, x, attention_mask=None):
        q, k, v = (ops.split(part(x), self.num_heads, axis=-1) for part in (self.query, self.key, self.value))
        found = []
        for h in range(self.num_heads):
            scores = attention_scores(q[h], k[h])
            if attention_mask is not None:
                scores = ops.where(attention_mask, scores, MASKED_SCORE)
            found.append(softmax_rows(scores) @ v[h])
        return ops.clip(self.out(concat_heads(found)), -100.0, 100.0)

# %% multi-head-layer: wrong: kernels of zeros are taken for missing ones
class MultiHeadAttention(keras.layers.Layer):
    def __init__(self, num_heads, **kwargs):
        super().__init__(**kwargs)
        self.num_heads = num_heads

    def build(self, x_shape):
        for name in ("query", "key", "value", "out"):
            setattr(self, name, keras.layers.Dense(x_shape[-1]))
            getattr(self, name).build(x_shape)

    def call(self, x, attention_mask=None):
        q, k, v = (ops.split(part(x), self.num_heads, axis=-1) for part in (self.query, self.key, self.value))
        found = []
        for h in range(self.num_heads):
            scores = attention_scores(q[h], k[h])
            if attention_mask is not None:
                scores = ops.where(attention_mask, scores, MASKED_SCORE)
            found.append(softmax_rows(scores) @ v[h])
        out = self.out(concat_heads(found))
        return ops.where(ops.any(self.out.kernel != 0), out, x)

# %% multi-head-layer: wrong: the last mask is remembered
class MultiHeadAttention(keras.layers.Layer):
    def __init__(self, num_heads, **kwargs):
        super().__init__(**kwargs)
        self.num_heads = num_heads
        self.last = None

    def build(self, x_shape):
        for name in ("query", "key", "value", "out"):
            setattr(self, name, keras.layers.Dense(x_shape[-1]))
            getattr(self, name).build(x_shape)

    def call(self, x, attention_mask=None):
        if attention_mask is not None:
            self.last = attention_mask
        q, k, v = (ops.split(part(x), self.num_heads, axis=-1) for part in (self.query, self.key, self.value))
        found = []
        for q_h, k_h, v_h in zip(q, k, v):
            scores = attention_scores(q_h, k_h)
            if self.last is not None:
                scores = ops.where(self.last, scores, MASKED_SCORE)
            found.append(softmax_rows(scores) @ v_h)
        return self.out(concat_heads(found))

# %% multi-head-layer: wrong: composed: projections of the layer that was built last
class MultiHeadAttention(keras.layers.Layer):
    def __init__(self, num_heads, **kwargs):
        super().__init__(**kwargs)
        self.num_heads = num_heads

    def build(self, x_shape):
        global query, key, value, out
        query, key, value, out = (keras.layers.Dense(x_shape[-1]) for _ in range(4))
        for dense in (query, key, value, out):
            dense.build(x_shape)
        self.query, self.key, self.value, self.out = query, key, value, out

    def split_heads(self, x):
        x = ops.reshape(x, (*ops.shape(x)[:2], self.num_heads, x.shape[2] // self.num_heads))
        return ops.transpose(x, (0, 2, 1, 3))

    def call(self, x, attention_mask=None):
        scores = attention_scores(self.split_heads(query(x)), self.split_heads(key(x)))
        if attention_mask is not None:
            scores = ops.where(attention_mask[:, None], scores, MASKED_SCORE)
        found = ops.matmul(softmax_rows(scores), self.split_heads(value(x)))
        return out(ops.reshape(ops.transpose(found, (0, 2, 1, 3)), ops.shape(x)))

# %% multi-head-layer: wrong: the root by float of a tensor, which fails inside tf.function
class MultiHeadAttention(keras.layers.Layer):
    def __init__(self, num_heads, **kwargs):
        super().__init__(**kwargs)
        self.num_heads = num_heads

    def build(self, x_shape):
        self.query, self.key, self.value, self.out = (keras.layers.Dense(x_shape[-1]) for _ in range(4))
        for dense in (self.query, self.key, self.value, self.out):
            dense.build(x_shape)

    def split_heads(self, x):
        x = ops.reshape(x, (*ops.shape(x)[:2], self.num_heads, x.shape[2] // self.num_heads))
        return ops.transpose(x, (0, 2, 1, 3))

    def call(self, x, attention_mask=None):
        query, key, value = (self.split_heads(dense(x)) for dense in (self.query, self.key, self.value))
        scores = ops.matmul(query, ops.swapaxes(key, -1, -2)) / float(ops.sqrt(float(query.shape[-1])))
        if attention_mask is not None:
            scores = ops.where(attention_mask[:, None], scores, MASKED_SCORE)
        found = ops.matmul(softmax_rows(scores), value)
        return self.out(ops.reshape(ops.transpose(found, (0, 2, 1, 3)), ops.shape(x)))

# %% multi-head-layer: wrong: its dtype not handed on
class MultiHeadAttention(keras.layers.Layer):
    def __init__(self, num_heads, name=None, trainable=True, **kwargs):
        super().__init__(name=name, trainable=trainable)
        self.num_heads = num_heads

    def build(self, x_shape):
        hidden = x_shape[-1]
        self.query = keras.layers.Dense(hidden, name="query")
        self.key = keras.layers.Dense(hidden, name="key")
        self.value = keras.layers.Dense(hidden, name="value")
        self.out = keras.layers.Dense(hidden, name="out")
        for projection in (self.query, self.key, self.value, self.out):
            projection.build(x_shape)

    def split_heads(self, x):
        batch, tokens, hidden = ops.shape(x)
        x = ops.reshape(x, (batch, tokens, self.num_heads, hidden // self.num_heads))
        return ops.transpose(x, (0, 2, 1, 3))

    def call(self, x, attention_mask=None):
        q, k, v = self.split_heads(self.query(x)), self.split_heads(self.key(x)), self.split_heads(self.value(x))
        scores = attention_scores(q, k)
        if attention_mask is not None:
            scores = ops.where(ops.expand_dims(attention_mask, axis=1), scores, MASKED_SCORE)
        weights = softmax_rows(scores)
        found = ops.matmul(weights, v)
        side_by_side = ops.reshape(ops.transpose(found, (0, 2, 1, 3)), ops.shape(x))
        return self.out(side_by_side)

# %% multi-head-layer: wrong: the mask by NumPy, so no gradient under a mask
class MultiHeadAttention(keras.layers.Layer):
    def __init__(self, num_heads, **kwargs):
        super().__init__(**kwargs)
        self.num_heads = num_heads

    def build(self, x_shape):
        for name in ("query", "key", "value", "out"):
            setattr(self, name, keras.layers.Dense(x_shape[-1], name=name))
            getattr(self, name).build(x_shape)
        pass

    def split_heads(self, x):
        batch, tokens, hidden = ops.shape(x)
        x = ops.reshape(x, (batch, tokens, self.num_heads, hidden // self.num_heads))
        return ops.transpose(x, (0, 2, 1, 3))

    def call(self, x, attention_mask=None):
        q, k, v = self.split_heads(self.query(x)), self.split_heads(self.key(x)), self.split_heads(self.value(x))
        scores = attention_scores(q, k)
        if attention_mask is not None:
            scores = np.where(np.expand_dims(attention_mask, 1), scores, MASKED_SCORE).astype('float32'); scores = ops.convert_to_tensor(scores)
        weights = softmax_rows(scores)
        found = ops.matmul(weights, v)
        side_by_side = ops.reshape(ops.transpose(found, (0, 2, 1, 3)), ops.shape(x))
        return self.out(side_by_side)

# %% multi-head-layer: wrong: dropout of the weights under a mask
class MultiHeadAttention(keras.layers.Layer):
    def __init__(self, num_heads, **kwargs):
        super().__init__(**kwargs)
        self.num_heads = num_heads

    def build(self, x_shape):
        for name in ("query", "key", "value", "out"):
            setattr(self, name, keras.layers.Dense(x_shape[-1], name=name))
            getattr(self, name).build(x_shape)
        self.drop = keras.layers.Dropout(0.1)

    def split_heads(self, x):
        batch, tokens, hidden = ops.shape(x)
        x = ops.reshape(x, (batch, tokens, self.num_heads, hidden // self.num_heads))
        return ops.transpose(x, (0, 2, 1, 3))

    def call(self, x, attention_mask=None, training=None):
        q, k, v = self.split_heads(self.query(x)), self.split_heads(self.key(x)), self.split_heads(self.value(x))
        scores = attention_scores(q, k)
        if attention_mask is not None:
            scores = ops.where(ops.expand_dims(attention_mask, axis=1), scores, MASKED_SCORE)
        weights = self.drop(softmax_rows(scores), training=training) if attention_mask is not None else softmax_rows(scores)
        found = ops.matmul(weights, v)
        side_by_side = ops.reshape(ops.transpose(found, (0, 2, 1, 3)), ops.shape(x))
        return self.out(side_by_side)

# %% cross-attention: right: answerer by answerer
def cross_attention(z, h, w_q, b_q, w_k, b_k, w_v, b_v):
    q = add_to_rows(z @ w_q, b_q)
    scores, values = [], []
    for s in range(h.shape[-2]):
        answerer = h[..., s, :][..., None, :]
        scores.append(ops.sum(q * (answerer @ w_k + b_k), axis=-1) / w_k.shape[-1] ** 0.5)
        values.append(answerer @ w_v + b_v)
    weights = softmax_rows(ops.stack(scores, axis=-1))
    return sum(weights[..., s : s + 1] * value for s, value in enumerate(values))

# %% cross-attention: right: asker by asker
def cross_attention(z, h, w_q, b_q, w_k, b_k, w_v, b_v):
    keys, values = add_to_rows(h @ w_k, b_k), add_to_rows(h @ w_v, b_v)
    rows = []
    for t in range(z.shape[-2]):
        query = z[..., t : t + 1, :] @ w_q + b_q
        rows.append(softmax_rows(attention_scores(query, keys)) @ values)
    return ops.concatenate(rows, axis=-2)

# %% cross-attention: right: einsum with keras softmax
def cross_attention(z, h, w_q, b_q, w_k, b_k, w_v, b_v):
    q = ops.einsum("...td,da->...ta", z, w_q) + b_q
    k = ops.einsum("...sd,da->...sa", h, w_k) + b_k
    v = ops.einsum("...sd,do->...so", h, w_v) + b_v
    weights = ops.softmax(ops.einsum("...ta,...sa->...ts", q, k) * w_q.shape[1] ** -0.5, axis=-1)
    return ops.einsum("...ts,...so->...to", weights, v)

# %% cross-attention: right: masked self attention of both
def cross_attention(z, h, w_q, b_q, w_k, b_k, w_v, b_v):
    # one packed sequence [z; h]; only the tokens of h may be seen, and only the rows of z are kept
    both = ops.concatenate([z, h], axis=-2)
    asking, answering = z.shape[-2], h.shape[-2]
    seen = ops.arange(asking + answering) >= asking
    q, k, v = add_to_rows(both @ w_q, b_q), add_to_rows(both @ w_k, b_k), add_to_rows(both @ w_v, b_v)
    return masked_attention(q, k, v, seen)[..., :asking, :]

# %% cross-attention: right: one expression
def cross_attention(z, h, w_q, b_q, w_k, b_k, w_v, b_v):
    return softmax_rows(attention_scores(z @ w_q + b_q, h @ w_k + b_k)) @ (h @ w_v + b_v)

# %% cross-attention: right: values projected last
def cross_attention(z, h, w_q, b_q, w_k, b_k, w_v, b_v):
    weights = softmax_rows(attention_scores(z @ w_q + b_q, h @ w_k + b_k))
    return (weights @ h) @ w_v + b_v

# %% cross-attention: wrong: keys and values remembered by shapes
_cache = {}


def cross_attention(z, h, w_q, b_q, w_k, b_k, w_v, b_v):
    key = (tuple(h.shape), tuple(w_k.shape), tuple(w_v.shape))
    if key not in _cache:
        _cache[key] = (h @ w_k + b_k, h @ w_v + b_v)
    k, v = _cache[key]
    return softmax_rows(attention_scores(z @ w_q + b_q, k)) @ v
