def basic_tokenize(text, lower_case=True):
    text = clean_text(text)
    if lower_case:
        text = strip_accents(text)
    result = []
    for word in text.split():
        result.extend(split_punctuation(word))
    return result
