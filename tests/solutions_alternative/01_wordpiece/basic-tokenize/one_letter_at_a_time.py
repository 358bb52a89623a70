def basic_tokenize(text, lower_case=True):
    words, word = [], ""
    for character in clean_text(text) + " ":
        if character.isspace():
            words += split_punctuation(strip_accents(word) if lower_case else word)
            word = ""
        else:
            word += character
    return words
