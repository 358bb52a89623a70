import re


def split_punctuation(word):
    marks = {c for c in word if unicodedata.category(c)[0] == "P"} | set("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
    pattern = "([" + "".join(map(re.escape, sorted(marks))) + "])"
    return [part for part in re.split(pattern, word) if part]
