def pack(first, second, vocabulary, length):
    if second is not None:
        first, second = truncate_pair(first, second, length - 3)
    ids, segments, mask = [], [], []

    def add(piece, segment, seen=1):
        ids.append(vocabulary[piece])
        segments.append(segment)
        mask.append(seen)

    add("[CLS]", 0)
    for piece in first[: length - 2]:
        add(piece, 0)
    add("[SEP]", 0)
    if second is not None:
        for piece in [*second, "[SEP]"]:
            add(piece, 1)
    while len(ids) < length:
        add("[PAD]", 0, 0)
    return {"token_ids": ids, "token_type_ids": segments, "attention_mask": mask}
