def strip_accents(text):
    text = unicodedata.normalize("NFD", text).lower()
    text = unicodedata.normalize("NFD", text)
    for mark in set(text):
        if unicodedata.category(mark) == "Mn":
            text = text.replace(mark, "")
    return text
