IGNORED = -100


def align_labels(pieces_of_words, tags):
    inner = [IGNORED if index else tag for pieces, tag in zip(pieces_of_words, tags) for index in range(len(pieces))]
    return [IGNORED, *inner, IGNORED]
