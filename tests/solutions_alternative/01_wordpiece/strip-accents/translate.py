def strip_accents(text):
    apart = unicodedata.normalize("NFD", text.lower())
    return apart.translate({ord(c): None for c in apart if unicodedata.category(c) == "Mn"})
