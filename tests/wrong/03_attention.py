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

# %% softmax-rows: shifted by the mean
def softmax_rows(a):
    powers = ops.exp(a - ops.mean(a, axis=-1, keepdims=True))
    return powers / ops.sum(powers, axis=-1, keepdims=True)

# %% softmax-rows: shifted by the largest score of each matrix but not of each row
def softmax_rows(a):
    axes = -1 if len(a.shape) == 2 else (-2, -1)
    powers = ops.exp(a - ops.max(a, axis=axes, keepdims=True))
    return powers / ops.sum(powers, axis=-1, keepdims=True)

# %% scores: axes by number
def attention_scores(q, k):
    turned = ops.transpose(k) if len(k.shape) == 2 else ops.swapaxes(k, 1, 2)
    return q @ turned / q.shape[-1] ** 0.5

# %% attention: own softmax without a shift
def attention(x, w_q, b_q, w_k, b_k, w_v, b_v):
    powers = ops.exp(attention_scores(x @ w_q + b_q, x @ w_k + b_k))
    return powers / ops.sum(powers, axis=-1, keepdims=True) @ (x @ w_v + b_v)

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

# %% mh-attention: eight heads at most
def mh_attention(x, heads, w_o, b_o):
    found = concat_heads([attention(x, *parameters) for parameters in heads[:8]])
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
