def segment_ids(token_ids, sep_id, pad_id):
    tokens = token_ids.shape[-1]
    separators = ops.cast(ops.equal(token_ids, sep_id), "float32")
    before = ops.matmul(separators, ops.triu(ops.ones((tokens, tokens)), k=1))
    return ops.cast((before == 1) & (token_ids != pad_id), "int32")
