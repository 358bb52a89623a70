import string


def split_punctuation(word):
    for mark in set(word):
        if mark in string.punctuation or unicodedata.category(mark).startswith("P"):
            word = word.replace(mark, " " + mark + " ")
    return word.split()
