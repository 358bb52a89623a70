def is_punctuation(c):
    return unicodedata.category(c) in ("Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po") or c in "$+<=>^`|~"


def split_punctuation(word):
    for place, character in enumerate(word):
        if is_punctuation(character):
            before = [word[:place]] if place else []
            return before + [character] + split_punctuation(word[place + 1 :])
    return [word] if word else []
