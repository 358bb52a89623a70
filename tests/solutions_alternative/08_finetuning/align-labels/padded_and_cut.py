IGNORED = -100


def align_labels(pieces_of_words, tags):
    labels = [IGNORED]
    for word, tag in zip(pieces_of_words, tags):
        labels.extend(([tag] + [IGNORED] * len(word))[: len(word)])
    return labels + [IGNORED]
