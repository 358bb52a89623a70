def strip_accents(text):
    def is_letter_or_sign(character):
        return not unicodedata.category(character) == "Mn"

    return "".join(filter(is_letter_or_sign, unicodedata.normalize("NFD", text.lower())))
