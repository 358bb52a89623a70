def whole_words(pieces):
    special = {"[CLS]", "[SEP]", "[PAD]"}
    words = []
    for begin, piece in enumerate(pieces):
        before = pieces[begin - 1] if begin else "[CLS]"
        if piece in special or (piece.startswith("##") and before not in special):
            continue
        end = begin + 1
        while end < len(pieces) and pieces[end].startswith("##"):
            end += 1
        words.append(list(range(begin, end)))
    return words
