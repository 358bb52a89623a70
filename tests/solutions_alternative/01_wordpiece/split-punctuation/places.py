def split_punctuation(word):
    def alone(c):
        return c.isascii() and c.isprintable() and not c.isalnum() and c != " " or unicodedata.category(c)[0] == "P"

    cuts = {0, len(word)}
    for place, character in enumerate(word):
        if alone(character):
            cuts |= {place, place + 1}
    cuts = sorted(cuts)
    return [word[start:end] for start, end in zip(cuts, cuts[1:])]
