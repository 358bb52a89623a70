def spearman(gold, predicted):
    """The mean of the places that searching from the left and from the right gives."""

    def rank(values):
        ordered = np.sort(values)
        return (np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")) / 2

    a, b = rank(gold), rank(predicted)
    a, b = (a - a.mean()) / a.std(), (b - b.mean()) / b.std()
    return float(np.mean(a * b))
