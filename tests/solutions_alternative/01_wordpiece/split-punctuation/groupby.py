from itertools import groupby


def is_punctuation(character):
    code = ord(character)
    if 33 <= code <= 47 or 58 <= code <= 64 or 91 <= code <= 96 or 123 <= code <= 126:
        return True
    return unicodedata.category(character)[0] == "P"


def split_punctuation(word):
    parts = []
    for mark, group in groupby(word, key=is_punctuation):
        together = "".join(group)
        parts += list(together) if mark else [together]
    return parts
