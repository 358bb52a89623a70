IGNORED = -100


def align_labels(pieces_of_words, tags):
    labels, waiting = [IGNORED], iter(tags)
    for pieces in pieces_of_words:
        label = next(waiting)
        for _ in pieces:
            labels.append(label)
            label = IGNORED
    return [*labels, IGNORED]
