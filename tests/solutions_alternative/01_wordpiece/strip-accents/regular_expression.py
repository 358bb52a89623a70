import re


def strip_accents(text):
    text = unicodedata.normalize("NFD", text.lower())
    marks = "".join({c for c in text if unicodedata.category(c) == "Mn"})
    return re.sub(f"[{marks}]", "", text) if marks else text
