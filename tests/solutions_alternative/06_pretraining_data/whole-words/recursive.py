SPECIAL = ("[CLS]", "[SEP]", "[PAD]")


def whole_words(pieces, start=0):
    if start == len(pieces):
        return []
    rest = whole_words(pieces, start + 1)
    if pieces[start] in SPECIAL:
        return rest
    follows = start + 1 < len(pieces) and pieces[start + 1].startswith("##")
    return [[start, *rest[0]], *rest[1:]] if follows else [[start], *rest]
