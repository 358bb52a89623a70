def padding_mask(is_real):
    padding = ops.equal(is_real, ops.zeros_like(is_real))
    return ops.logical_not(padding[:, None])
