def segment_ids(token_ids, sep_id, pad_id):
    separators = ops.cast(token_ids == sep_id, "int32")
    shifted = ops.pad(separators[:, :-1], [[0, 0], [1, 0]])
    return ops.where(token_ids == pad_id, 0, ops.cumsum(shifted, axis=1) % 2)
