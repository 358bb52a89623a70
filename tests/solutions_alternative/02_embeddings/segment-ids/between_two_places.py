def segment_ids(token_ids, sep_id, pad_id):
    first = ops.argmax(ops.cast(token_ids == sep_id, "int32"), axis=1)[:, None]
    place = ops.arange(token_ids.shape[1])[None, :]
    after = ops.logical_and(place > ops.cast(first, place.dtype), ops.not_equal(token_ids, pad_id))
    return ops.cast(after, "int32")
