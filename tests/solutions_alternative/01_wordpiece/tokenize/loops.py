def tokenize(text, vocabulary, lower_case=True):
    pieces = []
    for word in basic_tokenize(text, lower_case):
        for piece in wordpiece(word, vocabulary):
            pieces.append(piece)
    return pieces
