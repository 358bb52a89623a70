def padding_mask(is_real):
    return ops.cast(ops.expand_dims(is_real, -2), "bool")
