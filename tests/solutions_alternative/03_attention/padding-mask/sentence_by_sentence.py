def padding_mask(is_real):
    return ops.stack([ops.expand_dims(ops.not_equal(row, 0), 0) for row in ops.unstack(is_real, axis=0)])
