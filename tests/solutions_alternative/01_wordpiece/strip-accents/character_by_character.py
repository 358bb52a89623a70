def apart(character):
    parts = unicodedata.decomposition(character)
    if "\uac00" <= character <= "\ud7a3":
        return unicodedata.normalize("NFD", character)
    if not parts or parts.startswith("<"):
        return character
    return "".join(apart(chr(int(code, 16))) for code in parts.split())


def strip_accents(text):
    taken = "".join(map(apart, text.lower()))
    return "".join(c for c in taken if unicodedata.category(c) != "Mn")
