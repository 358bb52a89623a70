def tokenize(text, vocabulary, lower_case=True):
    words = basic_tokenize(text, lower_case)
    cut = {word: wordpiece(word, vocabulary) for word in set(words)}
    return [piece for word in words for piece in cut[word]]
