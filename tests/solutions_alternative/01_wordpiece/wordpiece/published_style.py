def wordpiece(word, vocabulary):
    chars = list(word)
    if len(chars) > 200:
        return ["[UNK]"]
    is_bad, start, sub_tokens = False, 0, []
    while start < len(chars):
        end = len(chars)
        found = None
        while start < end:
            substring = "".join(chars[start:end])
            if start > 0:
                substring = "##" + substring
            if substring in vocabulary:
                found = substring
                break
            end -= 1
        if found is None:
            is_bad = True
            break
        sub_tokens.append(found)
        start = end
    return ["[UNK]"] if is_bad else sub_tokens
