from itertools import chain


def basic_tokenize(text, lower_case=True):
    normalize = strip_accents if lower_case else lambda word: word
    return list(chain.from_iterable(map(split_punctuation, map(normalize, clean_text(text).split()))))
