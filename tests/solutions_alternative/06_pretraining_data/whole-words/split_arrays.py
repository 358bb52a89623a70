SPECIAL = ("[CLS]", "[SEP]", "[PAD]")


def whole_words(pieces):
    regular = np.flatnonzero([piece not in SPECIAL for piece in pieces])
    if not len(regular):
        return []
    starts = [not pieces[t].startswith("##") or t - 1 not in regular for t in regular]
    return [part.tolist() for part in np.split(regular, np.flatnonzero(starts)[1:])]
