def wordpiece(word, vocabulary):
    if len(word) > 200:
        return ["[UNK]"]
    pieces = []
    start = 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = word[start:end] if start == 0 else "##" + word[start:end]
            if piece in vocabulary:
                pieces.append(piece)
                start = end
                break
        else:
            return ["[UNK]"]
    return pieces
