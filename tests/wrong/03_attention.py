# Wrong answers to the exercises of notebook 03 that the checks must find; known mistakes with a name are in the catalogue.
# A cell has the set-up and the answers before it in the notebook. It must never earn all points, whatever the inputs.

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

