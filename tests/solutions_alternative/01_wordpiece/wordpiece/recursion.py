def cut(rest, joiner, vocabulary):
    if not rest:
        return []
    fitting = [end for end in range(1, len(rest) + 1) if joiner + rest[:end] in vocabulary]
    if not fitting:
        return None
    later = cut(rest[fitting[-1] :], "##", vocabulary)
    return None if later is None else [joiner + rest[: fitting[-1]], *later]


def wordpiece(word, vocabulary):
    pieces = cut(word, "", vocabulary) if len(word) <= 200 else None
    return ["[UNK]"] if pieces is None else pieces
