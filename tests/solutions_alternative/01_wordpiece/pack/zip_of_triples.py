def pack(first, second, vocabulary, length):
    if second is None:
        parts = [truncate_pair(first, [], length - 2)[0]]
    else:
        parts = list(truncate_pair(first, second, length - 3))
    triples = [("[CLS]", 0, 1)]
    for segment, part in enumerate(parts):
        triples += [(piece, segment, 1) for piece in part + ["[SEP]"]]
    triples += [("[PAD]", 0, 0)] * (length - len(triples))
    pieces, segments, mask = zip(*triples)
    return dict(token_ids=[vocabulary[p] for p in pieces], token_type_ids=list(segments), attention_mask=list(mask))
