def segment_ids(token_ids, sep_id, pad_id):
    batch = []
    for row in np.array(token_ids):
        seen, kinds = 0, []
        for piece in row:
            kinds.append(int(seen == 1 and piece != pad_id))
            seen += piece == sep_id
        batch.append(kinds)
    return ops.convert_to_tensor(batch, dtype="int32")
