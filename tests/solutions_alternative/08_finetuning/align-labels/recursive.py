IGNORED = -100


def align_labels(pieces_of_words, tags):
    def inner(words, tags):
        if not words:
            return []
        (first, *rest), (tag, *others) = words, tags
        own = [tag] + [IGNORED] * (len(first) - 1) if first else []
        return own + inner(rest, others)

    return [IGNORED] + inner(pieces_of_words, tags) + [IGNORED]
