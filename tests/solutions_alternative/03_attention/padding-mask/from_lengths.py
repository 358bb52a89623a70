def padding_mask(is_real):
    lengths = ops.sum(is_real, axis=1)
    return ops.arange(is_real.shape[1])[None, None, :] < lengths[:, None, None]
