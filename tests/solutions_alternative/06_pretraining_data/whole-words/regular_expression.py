import re

SPECIAL = ("[CLS]", "[SEP]", "[PAD]")


def whole_words(pieces):
    shape = "".join("." if p in SPECIAL else "#" if p.startswith("##") else "w" for p in pieces)
    return [list(range(*found.span())) for found in re.finditer("[w#]#*", shape)]
