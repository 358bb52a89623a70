def is_punctuation(character):
    code = ord(character)
    if (33 <= code <= 47) or (58 <= code <= 64) or (91 <= code <= 96) or (123 <= code <= 126):
        return True
    return unicodedata.category(character).startswith("P")


def split_punctuation(word):
    output, begin_new = [], True
    for character in word:
        if is_punctuation(character):
            output.append([character])
            begin_new = True
        else:
            if begin_new:
                output.append([])
            begin_new = False
            output[-1].append(character)
    return ["".join(part) for part in output]
