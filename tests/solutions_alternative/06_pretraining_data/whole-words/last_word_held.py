def whole_words(pieces):
    words, current = [], []
    for t, piece in enumerate([*pieces, "[SEP]"]):
        if not piece.startswith("##") or not current:
            if current:
                words.append(current)
            current = []
        if piece not in ("[CLS]", "[SEP]", "[PAD]"):
            current.append(t)
    return words
