def strip_accents(text):
    result = ""
    for character in unicodedata.normalize("NFD", text.lower()):
        if unicodedata.category(character) == "Mn":
            continue
        result += character
    return result
