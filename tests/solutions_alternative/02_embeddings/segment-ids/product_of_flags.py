def segment_ids(token_ids, sep_id, pad_id):
    counted = ops.cumsum(ops.cast(ops.equal(token_ids, sep_id), "int32"), axis=-1)
    ends_b = ops.cast(ops.equal(token_ids, sep_id), "int32") * ops.cast(ops.equal(counted, 2), "int32")
    inside = ops.cast(ops.equal(counted, 1), "int32") * ops.cast(ops.not_equal(token_ids, sep_id), "int32")
    return (inside + ends_b) * ops.cast(ops.not_equal(token_ids, pad_id), "int32")
