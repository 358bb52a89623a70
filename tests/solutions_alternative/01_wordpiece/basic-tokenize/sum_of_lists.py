def basic_tokenize(text, lower_case=True):
    lists = []
    for word in clean_text(text).split():
        lists.append(split_punctuation(strip_accents(word)) if lower_case else split_punctuation(word))
    return sum(lists, [])
