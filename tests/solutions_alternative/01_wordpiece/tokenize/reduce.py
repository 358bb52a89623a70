from functools import reduce


def tokenize(text, vocabulary, lower_case=True):
    return reduce(lambda pieces, word: pieces + wordpiece(word, vocabulary), basic_tokenize(text, lower_case), [])
