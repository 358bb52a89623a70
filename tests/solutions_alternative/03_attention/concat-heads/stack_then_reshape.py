def concat_heads(heads):
    stacked = ops.stack(heads, axis=-2)  # (..., tokens, heads, d_mid)
    return ops.reshape(stacked, (*heads[0].shape[:-1], len(heads) * heads[0].shape[-1]))
