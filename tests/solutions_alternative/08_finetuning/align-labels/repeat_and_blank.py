IGNORED = -100


def align_labels(pieces_of_words, tags):
    """Every piece gets its word's number; where the number is that of the piece before, nobody is asked."""
    owner = [None]
    for number, pieces in enumerate(pieces_of_words):
        owner += [number] * len(pieces)
    labels = [IGNORED]
    for before, here in zip(owner, owner[1:]):
        labels.append(tags[here] if here != before else IGNORED)
    labels.append(IGNORED)
    return labels
