def wordpiece(word, vocabulary):
    roots = {"": {}, "##": {}}
    for piece in vocabulary:
        joiner = "##" if piece.startswith("##") else ""
        node = roots[joiner]
        for character in piece[len(joiner) :]:
            node = node.setdefault(character, {})
        node[None] = piece
    if len(word) > 200:
        return ["[UNK]"]
    pieces, start = [], 0
    while start < len(word):
        node, place, found = roots["##" if start else ""], start, None
        while place < len(word) and word[place] in node:
            node = node[word[place]]
            place += 1
            if None in node:
                found = node[None], place
        if found is None:
            return ["[UNK]"]
        pieces.append(found[0])
        start = found[1]
    return pieces
