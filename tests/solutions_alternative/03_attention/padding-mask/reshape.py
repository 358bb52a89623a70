def padding_mask(is_real):
    batch, tokens = is_real.shape
    return ops.reshape(ops.greater(is_real, 0), (batch, 1, tokens))
