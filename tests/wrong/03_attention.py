# Wrong answers to the exercises of notebook 03 that the checks must find; known mistakes with a name are in the catalogue.
# A cell has the set-up and the answers before it in the notebook. It must never earn all points, whatever the inputs.

# %% concat-heads: equal heads once
def concat_heads(heads):
    different = []
    for head in heads:
        if not any(bool(ops.all(head == other)) for other in different):
            different.append(head)
    return ops.concatenate(different, axis=-1)

# %% concat-heads: sixteen heads at most
def concat_heads(heads):
    return ops.concatenate(heads[:16], axis=-1)

# %% add-to-rows: fifty rows at most
def add_to_rows(x, b):
    return ops.concatenate([x[..., :50, :] + b, x[..., 50:, :]], axis=-2)

# %% add-to-rows: rows of zeros left alone
def add_to_rows(x, b):
    return ops.where(ops.all(x == 0, axis=-1, keepdims=True), x, x + b)

# %% softmax-rows: shifted by the mean
def softmax_rows(a):
    powers = ops.exp(a - ops.mean(a, axis=-1, keepdims=True))
    return powers / ops.sum(powers, axis=-1, keepdims=True)

# %% softmax-rows: shifted by the largest score of each matrix but not of each row
def softmax_rows(a):
    axes = -1 if len(a.shape) == 2 else (-2, -1)
    powers = ops.exp(a - ops.max(a, axis=axes, keepdims=True))
    return powers / ops.sum(powers, axis=-1, keepdims=True)

# %% softmax-rows: no gradient
def softmax_rows(a):
    p = np.exp(a - np.max(a, -1, keepdims=True))
    return ops.convert_to_tensor(p / p.sum(-1, keepdims=True))

# %% softmax-rows: no gradient for large scores
def softmax_rows(a: Tensor) -> Tensor:
    # 1 / sum_k exp(a_k - a_j): only differences occur, so the size of the scores does not matter
    differences = ops.expand_dims(a, -2) - ops.expand_dims(a, -1)  # [..., j, k] = a_k - a_j
    return 1.0 / ops.sum(ops.exp(differences), axis=-1)

# %% scores: axes by number
def attention_scores(q, k):
    turned = ops.transpose(k) if len(k.shape) == 2 else ops.swapaxes(k, 1, 2)
    return q @ turned / q.shape[-1] ** 0.5

# %% scores: no gradient
def attention_scores(q, k):
    return ops.convert_to_tensor(np.asarray(q) @ np.swapaxes(np.asarray(k), -1, -2) / np.float32(q.shape[-1] ** 0.5))

# %% scores: limited to 50
def attention_scores(q, k):
    return ops.clip(ops.matmul(q, ops.swapaxes(k, -1, -2)) / q.shape[-1] ** 0.5, -50.0, 50.0)

# %% attention: own softmax without a shift
def attention(x, w_q, b_q, w_k, b_k, w_v, b_v):
    powers = ops.exp(attention_scores(x @ w_q + b_q, x @ w_k + b_k))
    return powers / ops.sum(powers, axis=-1, keepdims=True) @ (x @ w_v + b_v)

# %% attention: 512 keys at most
def attention(x, w_q, b_q, w_k, b_k, w_v, b_v):
    q = x @ w_q + b_q
    k = (x @ w_k + b_k)[..., :512, :]
    v = (x @ w_v + b_v)[..., :512, :]
    return softmax_rows(attention_scores(q, k)) @ v

# %% padding-mask: from lengths
def padding_mask(is_real):
    lengths = ops.sum(is_real, axis=1)
    return ops.arange(is_real.shape[1])[None, None, :] < lengths[:, None, None]

# %% causal-mask: a part of a table of 512 tokens
def causal_mask(tokens):
    table = ops.convert_to_tensor(np.tril(np.ones((512, 512), bool)))
    return table[:tokens, :tokens]

# %% masked-attention: minus infinity
MASKED_SCORE = -1e9


def masked_attention(q, k, v, mask):
    scores = ops.where(mask, attention_scores(q, k), -np.inf)
    return ops.matmul(ops.softmax(scores, axis=-1), v)

# %% masked-attention: zeroed and renormalised
MASKED_SCORE = -1e9


def masked_attention(q, k, v, mask):
    scores = attention_scores(q, k)
    powers = ops.exp(scores - ops.max(scores, axis=-1, keepdims=True)) * ops.cast(mask, scores.dtype)
    return powers @ v / ops.sum(powers, axis=-1, keepdims=True)

# %% masked-attention: minus ten thousand
def masked_attention(q, k, v, mask):
    return softmax_rows(ops.where(mask, attention_scores(q, k), -1e4)) @ v

# %% masked-attention: weights masked once more
def masked_attention(q, k, v, mask):
    weights = softmax_rows(ops.where(mask, attention_scores(q, k), -1e9))
    return ops.where(mask, weights, 0.0) @ v

# %% masked-attention: minus a million
def masked_attention(q, k, v, mask):
    return softmax_rows(ops.where(mask, attention_scores(q, k), -1e6)) @ v

# %% masked-attention: weights hidden and divided again
def masked_attention(q, k, v, mask):
    weights = ops.where(mask, softmax_rows(attention_scores(q, k)), 0.0)
    total = ops.sum(weights, axis=-1, keepdims=True)
    return ops.where(total > 0, weights / ops.where(total > 0, total, 1.0), 1.0 / k.shape[-2]) @ v

# %% masked-attention: a mask with two axes taken for (batch, keys)
def masked_attention(q, k, v, mask):
    if len(mask.shape) == 2 and mask.shape[0] == q.shape[0]:
        mask = mask[:, None, :]
    return softmax_rows(ops.where(mask, attention_scores(q, k), -1e9)) @ v

# %% masked-attention: the score made smaller by a hundred
def masked_attention(q, k, v, mask):
    scores = attention_scores(q, k)
    seen = ops.any(ops.broadcast_to(mask, scores.shape), axis=-1, keepdims=True)
    return softmax_rows(ops.where(seen, ops.where(mask, scores, scores - 100), 0.0)) @ v

# %% masked-attention: scores of zero are hidden
MASKED_SCORE = -1e9


def masked_attention(q, k, v, mask):
    scores = attention_scores(q, k) * ops.cast(mask, "float32")
    return softmax_rows(ops.where(scores == 0, MASKED_SCORE, scores)) @ v

# %% mh-attention: eight heads at most
def mh_attention(x, heads, w_o, b_o):
    found = concat_heads([attention(x, *parameters) for parameters in heads[:8]])
    return found @ w_o[: found.shape[-1]] + b_o

# %% mh-attention: twelve heads at most
def mh_attention(x, heads, w_o, b_o):
    found = concat_heads([attention(x, *parameters) for parameters in heads[:12]])
    return found @ w_o[: found.shape[-1]] + b_o

# %% multi-head-layer: a mask of minus a million
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

# %% multi-head-layer: as many tokens as in the first call
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

# %% multi-head-layer: the score made smaller by a hundred
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

# %% multi-head-layer: a bias of its own for the scores
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

# %% multi-head-layer: outputs are clipped
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

# %% multi-head-layer: kernels of zeros are taken for missing ones
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

# %% multi-head-layer: the last mask is remembered
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

# %% multi-head-layer: weights are dropped in training
class MultiHeadAttention(keras.layers.Layer):
    def __init__(self, num_heads, **kwargs):
        super().__init__(**kwargs)
        self.num_heads = num_heads
        self.drop = keras.layers.Dropout(0.1)

    def build(self, s):
        for n in ("query", "key", "value", "out"):
            setattr(self, n, keras.layers.Dense(s[-1]))
            getattr(self, n).build(s)

    def call(self, x, attention_mask=None, training=None):
        q, k, v = (ops.split(p(x), self.num_heads, -1) for p in (self.query, self.key, self.value))
        out = []
        for a, b, c in zip(q, k, v):
            s = attention_scores(a, b)
            if attention_mask is not None:
                s = ops.where(attention_mask, s, MASKED_SCORE)
            out.append(self.drop(softmax_rows(s), training=training) @ c)
        return self.out(concat_heads(out))

# %% multi-head-layer: composed: projections of the layer that was built last
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

# %% multi-head-layer: the root by float of a tensor, which fails inside tf.function
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

# %% multi-head-layer: its dtype not handed on
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

# %% multi-head-layer: the mask by NumPy, so no gradient under a mask
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

# %% multi-head-layer: dropout of the weights under a mask
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

# %% multi-head-layer: the batch size from x.shape
class MultiHeadAttention(keras.layers.Layer):
    def __init__(self, num_heads, **kwargs):
        super().__init__(**kwargs)
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
        batch, tokens, hidden = x.shape
        x = ops.reshape(x, (batch, tokens, self.num_heads, hidden // self.num_heads))
        return ops.transpose(x, (0, 2, 1, 3))
    def call(self, x, attention_mask=None):
        q, k, v = self.split_heads(self.query(x)), self.split_heads(self.key(x)), self.split_heads(self.value(x))
        scores = attention_scores(q, k)
        if attention_mask is not None:
            scores = ops.where(ops.expand_dims(attention_mask, axis=1), scores, MASKED_SCORE)
        weights = softmax_rows(scores)
        found = ops.matmul(weights, v)
        side_by_side = ops.reshape(ops.transpose(found, (0, 2, 1, 3)), x.shape)
        return self.out(side_by_side)

# %% cross-attention: keys and values remembered by shapes
_cache = {}


def cross_attention(z, h, w_q, b_q, w_k, b_k, w_v, b_v):
    key = (tuple(h.shape), tuple(w_k.shape), tuple(w_v.shape))
    if key not in _cache:
        _cache[key] = (h @ w_k + b_k, h @ w_v + b_v)
    k, v = _cache[key]
    return softmax_rows(attention_scores(z @ w_q + b_q, k)) @ v
