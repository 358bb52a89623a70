def tokenize(text, vocabulary, lower_case=True):
    def pieces_of(words):
        return wordpiece(words[0], vocabulary) + pieces_of(words[1:]) if words else []

    return pieces_of(basic_tokenize(text, lower_case))
