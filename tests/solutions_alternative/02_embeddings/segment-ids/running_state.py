def segment_ids(token_ids, sep_id, pad_id):
    state, columns = ops.zeros(token_ids.shape[0], dtype="int32"), []
    for t in range(token_ids.shape[1]):
        piece = token_ids[:, t]
        columns.append(ops.where(piece == pad_id, 0, state))
        state = ops.where(piece == sep_id, 1, state)
    return ops.stack(columns, axis=1)
