def tokenize(text, vocabulary, lower_case=True):
    result = []
    for word in basic_tokenize(text, lower_case=lower_case):
        result += wordpiece(word, vocabulary)
    return result
