def basic_tokenize(text, lower_case=True):
    words = clean_text(text).split()
    return [part for word in words for part in split_punctuation(strip_accents(word) if lower_case else word)]
