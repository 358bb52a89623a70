# Wrong answers to the exercises of notebook 03 that the checks must find; known mistakes with a name are in the catalogue.
# A cell has the set-up and the answers before it in the notebook. It must never earn all points, whatever the inputs.

# %% concat-heads: equal heads once
def concat_heads(heads):
    different = []
    for head in heads:
        if not any(bool(ops.all(head == other)) for other in different):
            different.append(head)
    return ops.concatenate(different, axis=-1)

# %% softmax-rows: shifted by the mean
def softmax_rows(a):
    powers = ops.exp(a - ops.mean(a, axis=-1, keepdims=True))
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
