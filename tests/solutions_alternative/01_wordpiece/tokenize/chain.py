import itertools


def tokenize(text, vocabulary, lower_case=True):
    cut = (wordpiece(word, vocabulary) for word in basic_tokenize(text, lower_case))
    return list(itertools.chain(*cut))
