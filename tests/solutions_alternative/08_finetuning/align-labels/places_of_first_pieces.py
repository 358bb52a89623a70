IGNORED = -100


def align_labels(pieces_of_words, tags):
    sizes = np.array([len(pieces) for pieces in pieces_of_words])
    labels = np.full(sizes.sum() + 2, IGNORED)
    firsts = 1 + np.cumsum(sizes) - sizes
    labels[firsts[sizes > 0]] = np.array(tags)[sizes > 0]
    return labels.tolist()
