def basic_tokenize(text, lower_case=True):
    first, *rest = clean_text(text).split(maxsplit=1) or [""]
    if lower_case:
        first = strip_accents(first)
    return split_punctuation(first) + (basic_tokenize(rest[0], lower_case) if rest else [])
